// How a carrier of one's own is reached, both ways.
import { type EditedTrunk, transports } from "./trunk.ts"

interface Props {
  readonly trunk: EditedTrunk
  /** Which user names have a password that is kept. */
  readonly keptFor: { readonly inbound: string; readonly termination: string }
  readonly onChange: (trunk: EditedTrunk) => void
}

export const TrunkFields = ({ keptFor, onChange, trunk }: Props) => {
  const set = (part: Partial<EditedTrunk>): void => onChange({ ...trunk, ...part })
  const header = (index: number, name: string, value: string): void =>
    set({ headers: trunk.headers.with(index, [name, value]) })
  return (
    <>
      <h3>Who may call it</h3>
      <label for="allowed">Addresses or networks of your carrier, one a line</label>
      <textarea
        id="allowed"
        rows={2}
        placeholder={"203.0.113.10\n198.51.100.0/24"}
        value={trunk.allowed}
        onInput={(event) => set({ allowed: event.currentTarget.value })}
      />
      <div class="pair">
        <div>
          <label for="inbound-user">Or with the user name</label>
          <input
            id="inbound-user"
            autoComplete="off"
            value={trunk.inboundUser}
            onInput={(event) => set({ inboundUser: event.currentTarget.value })}
          />
        </div>
        <div>
          <label for="inbound-password">and its password</label>
          <input
            id="inbound-password"
            type="password"
            autoComplete="new-password"
            placeholder={kept(keptFor.inbound, trunk.inboundUser)}
            value={trunk.inboundPassword}
            onInput={(event) => set({ inboundPassword: event.currentTarget.value })}
          />
        </div>
      </div>

      <h3>Where its calls go</h3>
      <p class="hint">Left empty, it only takes calls.</p>
      <div class="row">
        <input
          aria-label="Host of the carrier"
          placeholder="sip.example.com:5060"
          value={trunk.uri}
          onInput={(event) => set({ uri: event.currentTarget.value })}
        />
        <select
          aria-label="Transport"
          value={trunk.transport}
          onChange={({ currentTarget: { value } }) =>
            set({ transport: transports.find((one) => one === value) ?? "auto" })
          }
        >
          {transports.map((transport) => (
            <option key={transport} value={transport}>
              {transport === "auto" ? "by itself" : transport.toUpperCase()}
            </option>
          ))}
        </select>
      </div>
      <div class="pair">
        <div>
          <label for="trunk-user">User name there</label>
          <input
            id="trunk-user"
            autoComplete="off"
            value={trunk.user}
            onInput={(event) => set({ user: event.currentTarget.value })}
          />
        </div>
        <div>
          <label for="trunk-password">Password there</label>
          <input
            id="trunk-password"
            type="password"
            autoComplete="new-password"
            placeholder={kept(keptFor.termination, trunk.user)}
            value={trunk.password}
            onInput={(event) => set({ password: event.currentTarget.value })}
          />
        </div>
      </div>
      <p class="hint">Headers its calls carry</p>
      {trunk.headers.map(([name, value], index) => (
        <div class="row" key={index}>
          <input
            aria-label="Header"
            placeholder="X-Account"
            value={name}
            onInput={(event) => header(index, event.currentTarget.value, value)}
          />
          <input aria-label="Value" value={value} onInput={(event) => header(index, name, event.currentTarget.value)} />
          <button type="button" class="quiet" onClick={() => set({ headers: trunk.headers.toSpliced(index, 1) })}>
            Remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => set({ headers: [...trunk.headers, ["", ""]] })}>
        Add a header
      </button>
    </>
  )
}

const kept = (user: string, now: string): string => (user !== "" && user === now ? "stored" : "")
