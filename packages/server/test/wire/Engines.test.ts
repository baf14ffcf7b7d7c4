// Real calls on OpenAI-compatible engines reached by the settings: a good turn, then every way such an engine lets a
// caller down. Each has a bounded outcome after which the same call goes on; with a second provider it serves.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { type Behaviour, type FakeOpenAiAudio, makeFakeOpenAiAudio } from "@parley/speech/testing/FakeOpenAiAudio"
import { Effect, Exit, Scope } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { joinCall, type RtcCaller, until } from "../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

interface Health {
  readonly status: string
  readonly serves: Readonly<Record<string, ReadonlyArray<{ readonly name: string; readonly state: string }>>>
}

const answer = "All right, I have noted that."
const silent = { prompt: { system_prompt: "You are a receptionist.", first_message_mode: "off" } }
const keys = { PARLEY_LLM_API_KEY: "llm-key", PARLEY_TTS_API_KEY: "tts-key", PARLEY_ASR_API_KEY: "asr-key" }

const scope = Effect.runSync(Scope.make())
const services: Array<RunningService> = []
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const start = async (env: Record<string, string>): Promise<RunningService> => {
  const service = await startService({ PARLEY_API_KEY: "key-of-the-engines-test-of-32-characters", ...keys, ...env })
  services.push(service)
  return service
}

/** Answers well but for what is queued. */
const chatServer = async () => {
  const queue: Array<FakeChat.ChatBehaviour> = []
  const behave = () => queue.shift() ?? ({ kind: "say", text: answer } as const)
  const server = await Effect.runPromise(Scope.provide(FakeChat.make(behave), scope))
  return { ...server, queue }
}

const audioServer = (transcripts: ReadonlyArray<string> = []): Promise<FakeOpenAiAudio> =>
  Effect.runPromise(Scope.provide(makeFakeOpenAiAudio({ transcripts }), scope))

const call = async (service: RunningService, config: Record<string, unknown> = silent, more = {}) => {
  const body = { agent_id: await service.agent(config), ...more }
  const ticket = await service.api<{ session_id: string; rtc_url: string; token: string }>(
    "POST",
    "/v1/agent/sessions",
    body
  )
  const caller = await joinCall(ticket)
  await until("the agent listens", () => caller.state() === "listening")
  return { caller, ticket }
}

const health = (service: RunningService) => service.api<Health>("GET", "/health")

const statesOf = (all: Health, part: string) => all.serves[part]?.map(({ name, state }) => `${name} ${state}`)

const type = (caller: RtcCaller, text: string) => caller.send({ type: "user.message", text })

/** A typed turn that is answered aloud. */
const goodTurn = async (caller: RtcCaller): Promise<void> => {
  await until("the agent listens", () => caller.state() === "listening")
  const before = caller.heard.length
  await type(caller, "please note this")
  await until("an answer is heard", () => caller.heard.length > before + 20)
  await until("the answer is over", () => caller.state() === "listening")
}

const endOf = (service: RunningService, id: string) =>
  service.api<{ status: string; end_reason: string | null }>("GET", `/v1/agent/sessions/${id}`)

const faultsOf = async (service: RunningService, id: string): Promise<ReadonlyArray<string>> => {
  const journal = await service.api<{ entries: ReadonlyArray<{ kind: string; name: string; data: unknown }> }>(
    "GET",
    `/v1/agent/sessions/${id}/journal`
  )
  return journal.entries.flatMap(({ data, kind, name }) =>
    kind === "fault" ? [`${name} ${JSON.stringify(data)}`] : []
  )
}

const deaf = findPocketSphinx() === undefined
if (deaf && process.env["CI"] === "true")
  throw new Error("PocketSphinx is missing: install libpocketsphinx3 and pocketsphinx-en-us")

describe("engines by settings", { timeout: 90_000, concurrent: true }, () => {
  it("hold a spoken turn, and /health names them", async () => {
    const [chat, voice, recogniser] = [
      await chatServer(),
      await audioServer(),
      await audioServer(["a table for two please"])
    ]
    const service = await start({
      PARLEY_LLM_BASE_URL: chat.baseUrl,
      PARLEY_LLM_MODEL: "big-model",
      PARLEY_LLM_EXTRA_BODY: JSON.stringify({ top_k: 7 }),
      PARLEY_TTS_BASE_URL: voice.baseUrl,
      PARLEY_TTS_VOICES: "nova,echo",
      PARLEY_ASR_BASE_URL: recogniser.baseUrl
    })
    const { caller, ticket } = await call(service, { ...silent, voice: { voice_id: "echo" } })
    await caller.say("I would like a table for two please")
    await until("the answer is heard", () => caller.heard.length > 100)
    await until("the answer is over", () => caller.state() === "listening")
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    await caller.leave()
    const heard = recogniser.requests.find(({ samples }) => samples.length > 16_000)
    expect(heard?.authorization).toBe("Bearer asr-key")
    expect(chat.requests[0]?.headers.authorization).toBe("Bearer llm-key")
    expect(chat.requests[0]?.body).toMatchObject({ model: "big-model", top_k: 7, stream: true })
    // A platform endpoint is not told who calls.
    expect(chat.requests[0]?.body).not.toHaveProperty("session_id")
    expect(JSON.stringify(chat.requests[0]?.body["messages"])).toContain("a table for two please")
    expect(voice.requests[0]).toMatchObject({ authorization: "Bearer tts-key", fields: { voice: "echo" } })
    const serving = await health(service)
    expect(serving.status).toBe("ok")
    for (const part of ["llm", "tts", "asr"]) expect(statesOf(serving, part)).toEqual(["openai up"])
    expect(await faultsOf(service, ticket.session_id)).toEqual([])
    for (const key of Object.values(keys)) expect(service.log()).not.toContain(key)
    expect(service.log()).not.toContain("table for two")
  })

  it("outlast a voice that fails", async () => {
    const [chat, voice] = [await chatServer(), await audioServer()]
    const service = await start({ PARLEY_LLM_BASE_URL: chat.baseUrl, PARLEY_TTS_BASE_URL: voice.baseUrl })
    const { caller, ticket } = await call(service)
    await goodTurn(caller)
    const failures: ReadonlyArray<ReadonlyArray<Behaviour>> = [
      ["dead", "dead"],
      ["empty"],
      ["page"],
      ["breaks"],
      ["drips"],
      ["hangs"]
    ]
    for (const behaviours of failures) {
      const asked = voice.requests.length
      voice.behave(...behaviours)
      await type(caller, "please note this")
      await until(`the voice was asked and ${behaviours[0]}`, () => voice.requests.length === asked + behaviours.length)
      await until("the agent gives up", () => caller.state() === "listening", 12_000)
      expect((await health(service)).status).toBe("degraded")
      await goodTurn(caller)
      expect((await health(service)).status).toBe("ok")
    }
    expect((await endOf(service, ticket.session_id)).status).toBe("active")
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    await caller.leave()
    const faults = await faultsOf(service, ticket.session_id)
    expect(faults.filter((fault) => fault.startsWith("tts_failed")).length).toBe(failures.length)
  })

  it("outlast a recogniser that fails", async () => {
    const [chat, recogniser] = [
      await chatServer(),
      await audioServer(Array.from({ length: 60 }, () => "note this please"))
    ]
    const service = await start({ PARLEY_LLM_BASE_URL: chat.baseUrl, PARLEY_ASR_BASE_URL: recogniser.baseUrl })
    const { caller, ticket } = await call(service)
    const speak = async () => {
      const before = caller.heard.length
      await caller.say("note this please")
      await until("an answer is heard", () => caller.heard.length > before + 20)
      await until("the answer is over", () => caller.state() === "listening")
    }
    await speak()
    const failures: ReadonlyArray<ReadonlyArray<Behaviour>> = [["hangs", "hangs"], ["empty"], ["drips"], [500, 500]]
    for (const behaviours of failures) {
      const asked = recogniser.requests.length
      recogniser.behave(...behaviours)
      await caller.say("note this please")
      await until(
        `the recogniser were asked and ${behaviours[0]}`,
        () => recogniser.requests.length >= asked + behaviours.length
      )
      // Beyond the bound for a final: what was not understood by then is forgotten.
      await new Promise((bound) => setTimeout(bound, 4000))
      await until("the agent listens", () => caller.state() === "listening")
      await speak()
    }
    expect((await endOf(service, ticket.session_id)).status).toBe("active")
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    await caller.leave()
    expect((await faultsOf(service, ticket.session_id)).join("\n")).toContain("asr_stream_lost")
  })

  it("outlast a language model that fails", async () => {
    const chat = await chatServer()
    const service = await start({ PARLEY_LLM_BASE_URL: chat.baseUrl })
    const { caller, ticket } = await call(service)
    await goodTurn(caller)
    const failures: ReadonlyArray<ReadonlyArray<FakeChat.ChatBehaviour>> = [
      [{ kind: "empty" }, { kind: "empty" }],
      [{ kind: "garbage" }, { kind: "garbage" }],
      [
        { kind: "cut", after: "" },
        { kind: "cut", after: "" }
      ],
      [{ kind: "cut", after: "One moment please," }],
      [{ kind: "say", text: "Just a moment.", gapMs: 1500 }],
      [{ kind: "hang" }]
    ]
    for (const behaviours of failures) {
      const before = caller.heard.length
      chat.queue.push(...behaviours)
      await type(caller, "please note this")
      // Words of the model as far as there are any, else a line that says so.
      await until(`something is heard though ${behaviours[0]?.kind}`, () => caller.heard.length > before + 20, 20_000)
      await until("the agent listens", () => caller.state() === "listening")
      chat.queue.length = 0
      await goodTurn(caller)
    }
    expect((await endOf(service, ticket.session_id)).status).toBe("active")
    await caller.leave()
  })

  it.skipIf(deaf)("fail over to the embedded ones within the turn (needs PocketSphinx)", async () => {
    const [chat, voice, recogniser] = [await chatServer(), await audioServer(), await audioServer()]
    const service = await start({
      PARLEY_LLM: "openai,demo",
      PARLEY_LLM_BASE_URL: chat.baseUrl,
      PARLEY_TTS: "openai,flite",
      PARLEY_TTS_BASE_URL: voice.baseUrl,
      PARLEY_ASR: "openai,pocketsphinx",
      PARLEY_ASR_BASE_URL: recogniser.baseUrl
    })
    const before = await health(service)
    expect(statesOf(before, "tts")).toEqual(["openai up", "flite standby"])
    const { caller } = await call(service)
    chat.queue.push({ kind: "hang" })
    voice.behave("hangs")
    await type(caller, "what are your opening hours")
    await until("the second ones answer", () => caller.heard.length > 100)
    await until("the answer is over", () => caller.state() === "listening")
    const after = await health(service)
    expect(after.status).toBe("ok")
    expect(statesOf(after, "tts")).toEqual(["openai down", "flite up"])
    expect(statesOf(after, "llm")).toEqual(["openai down", "demo up"])
    expect(caller.captions.map(({ text }) => text).join(" ")).toContain("nine to six")
    // The utterance on which the first recogniser hangs may be lost; the next is understood by the second.
    recogniser.behave("dead", "dead", "dead", "dead")
    await caller.say("I would like to book an appointment")
    await until("the second recogniser serves", () => recogniser.requests.length > 0)
    await until("the turn is understood", () => caller.captions.some(({ text }) => text.includes("appointment")))
    expect(statesOf(await health(service), "asr")).toEqual(["openai down", "pocketsphinx up"])
    await caller.leave()
  })

  it("reach an agent's own endpoint on a private address that is allowed, with what it may know", async () => {
    const chat = await chatServer()
    const service = await start({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })
    const custom = { base_url: `${chat.baseUrl}/chat/completions`, model: "own-model", api_key: "key-of-the-agent" }
    const { caller, ticket } = await call(
      service,
      { ...silent, llm: { custom } },
      { end_user_id: "customer-9", llm_extra_body: { tier: "gold" } }
    )
    await goodTurn(caller)
    await caller.leave()
    expect(chat.requests[0]?.headers.authorization).toBe("Bearer key-of-the-agent")
    expect(chat.requests[0]?.body).toMatchObject({
      model: "own-model",
      stream: true,
      stream_options: { include_usage: true },
      session_id: ticket.session_id,
      user_id: "customer-9",
      vendor_extra_body: { tier: "gold" }
    })
    for (const absent of ["temperature", "max_tokens"]) expect(chat.requests[0]?.body).not.toHaveProperty(absent)
    const strict = await start({})
    const made = strict.agent({ ...silent, llm: { custom } })
    await expect(made).rejects.toThrow(/422/)
  })
})
