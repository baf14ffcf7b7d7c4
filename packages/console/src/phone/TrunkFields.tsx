// The SIP trunk of a customer's own carrier: inbound, outbound, headers.
import { type EditedTrunk, transports } from "./trunk.ts"

interface Props {
  readonly trunk: EditedTrunk
  /** Which user names have a password that is kept. */
  readonly keptFor: { readonly inbound: string; readonly termination: string }
  readonly onChange: (trunk: EditedTrunk) => void
}

/** Edits a SIP trunk; a password is never shown, and left empty it stays. */
export const TrunkFields = ({ keptFor, onChange, trunk }: Props) => {
  const set = (part: Partial<EditedTrunk>): void => onChange({ ...trunk, ...part })
  return (
    <>
      <Inbound trunk={trunk} set={set} keptFor={keptFor.inbound} />
      <Outbound trunk={trunk} set={set} keptFor={keptFor.termination} />
      <Headers trunk={trunk} set={set} />
    </>
  )
}

interface PartProps {
  readonly trunk: EditedTrunk
  readonly set: (part: Partial<EditedTrunk>) => void
}

/** The user name whose password is stored; empty for none. */
type KeptFor = { readonly keptFor: string }

const Inbound = ({ keptFor, set, trunk }: PartProps & KeptFor) => (
  <>
    <h3>Inbound calls</h3>
    <label for="allowed">Allowed addresses or networks of the carrier, one per line</label>
    <textarea
      id="allowed"
      rows={2}
      placeholder={"203.0.113.10\n198.51.100.0/24"}
      value={trunk.allowed}
      onInput={(event) => set({ allowed: event.currentTarget.value })}
    />
    <div class="pair">
      <div>
        <label for="inbound-user">Inbound user name</label>
        <input
          id="inbound-user"
          autoComplete="off"
          value={trunk.inboundUser}
          onInput={(event) => set({ inboundUser: event.currentTarget.value })}
        />
      </div>
      <div>
        <label for="inbound-password">Inbound password</label>
        <input
          id="inbound-password"
          type="password"
          autoComplete="new-password"
          placeholder={kept(keptFor, trunk.inboundUser)}
          value={trunk.inboundPassword}
          onInput={(event) => set({ inboundPassword: event.currentTarget.value })}
        />
      </div>
    </div>
  </>
)

const Outbound = ({ keptFor, set, trunk }: PartProps & KeptFor) => (
  <>
    <h3>Outbound calls</h3>
    <p class="hint">Leave the host empty to receive calls only.</p>
    <div class="row">
      <input
        aria-label="Carrier host"
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
            {transport === "auto" ? "automatic" : transport.toUpperCase()}
          </option>
        ))}
      </select>
    </div>
    <div class="pair">
      <div>
        <label for="trunk-user">Outbound user name</label>
        <input
          id="trunk-user"
          autoComplete="off"
          value={trunk.user}
          onInput={(event) => set({ user: event.currentTarget.value })}
        />
      </div>
      <div>
        <label for="trunk-password">Outbound password</label>
        <input
          id="trunk-password"
          type="password"
          autoComplete="new-password"
          placeholder={kept(keptFor, trunk.user)}
          value={trunk.password}
          onInput={(event) => set({ password: event.currentTarget.value })}
        />
      </div>
    </div>
  </>
)

const Headers = ({ set, trunk }: PartProps) => {
  const header = (index: number, name: string, value: string): void =>
    set({ headers: trunk.headers.with(index, [name, value]) })
  return (
    <>
      <p class="hint">Extra headers of outbound calls</p>
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
