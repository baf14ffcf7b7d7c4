// Two ends of a call on loopback, ticked by hand: what one plays the other hears.
import { createSocket } from "node:dgram"
import { setTimeout as rest } from "node:timers/promises"
import { afterEach, describe, expect, it } from "vitest"
import type { Media, MediaOptions } from "../../src/rtp/Media.ts"
import { makePhoneMedia } from "../../src/rtp/PhoneMedia.ts"

const opened: Array<Media> = []
afterEach(() => {
  for (const media of opened.splice(0)) media.close()
})

const end = async (options: Partial<MediaOptions> = {}) => {
  const notes: Array<string> = []
  const media = await makePhoneMedia({
    address: "127.0.0.1",
    bind: "127.0.0.1",
    ports: undefined,
    secure: false,
    peer: "127.0.0.1",
    mayReach: (address) => address.startsWith("127."),
    onNote: (what, detail) => notes.push(`${what}: ${detail}`),
    ...options
  })
  opened.push(media)
  return { media, notes }
}

const listen = (media: Media) => {
  const heard = { frames: 0, loud: 0, digits: "", silent: 0 }
  media.sound().hear({
    onFrame: (samples) => {
      expect(samples.length).toBe(320)
      heard.frames++
      if (Math.max(...samples.map(Math.abs)) > 2_000) heard.loud++
    },
    onDigit: (digit) => (heard.digits += digit),
    onSilent: () => heard.silent++
  })
  return heard
}

const tone = (rate: number) =>
  Int16Array.from({ length: rate / 50 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 500 * i) / rate))

/** A tick every 20 ms of real time: the packets really cross. */
const tick = async (count: number, ...acts: ReadonlyArray<() => void>) => {
  for (let i = 0; i < count; i++) {
    for (const act of acts) act()
    await rest(20)
  }
}

const offer = (direction: string) => `v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\na=${direction}\r\n`

const only = (sdp: string, codec: number) => sdp.replace(/^m=audio (\d+) (\S+) .*$/m, `m=audio $1 $2 ${codec} 101`)

describe("the media of a call", () => {
  it.each([
    ["PCMU", 0, false],
    ["PCMA", 8, false],
    ["Opus", 111, false],
    ["PCMU with SRTP", 0, true],
    ["Opus with SRTP", 111, true]
  ])("crosses as %s, voice and keys, both ways", async (_name, codec, secure) => {
    const a = await end({ secure })
    const b = await end({ secure })
    const answer = await b.media.answer(only(a.media.offer(), codec))
    expect(answer).toBeDefined()
    expect(await a.media.accept(answer ?? "")).toBe(true)
    const [atA, atB] = [listen(a.media), listen(b.media)]
    const rate = codec === 111 ? 24_000 : 8_000
    expect([a.media.sound().playRate, b.media.sound().playRate]).toEqual([rate, rate])
    a.media.sound().sendDigits("4*#")
    await tick(
      60,
      () => a.media.sound().play(undefined),
      () => b.media.sound().play(tone(rate))
    )
    await rest(60)
    expect(atA.loud).toBeGreaterThan(30)
    expect(atB.loud).toBe(0)
    expect(atB.digits).toBe("4*#")
    expect(atB.frames).toBeGreaterThan(15)
    expect([atA.silent, atB.silent]).toEqual([0, 0])
  })

  it("hides losses: the clock goes on and the sound fades", async () => {
    const b = await end()
    const far = createSocket("udp4")
    await new Promise<void>((ready) => far.bind(0, "127.0.0.1", ready))
    const answer = (await b.media.answer(
      `v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio ${far.address().port} RTP/AVP 0\r\n`
    )) as string
    const port = Number(/m=audio (\d+)/.exec(answer)?.[1])
    const atB = listen(b.media)
    for (let i = 0; i < 50; i++) {
      b.media.sound().play(undefined)
      if (i % 5 !== 3) {
        const packet = Buffer.alloc(172, 0x30)
        packet[0] = 0x80
        packet[1] = 0
        packet.writeUInt16BE(i, 2)
        packet.writeUInt32BE(i * 160, 4)
        packet.writeUInt32BE(9, 8)
        far.send(packet, port, "127.0.0.1")
        // Not ours: another payload type, too short, no RTP at all.
        far.send(Buffer.concat([Buffer.of(0x80, 99), packet.subarray(2)]), port, "127.0.0.1")
        far.send(Buffer.of(0x80, 0, 1), port, "127.0.0.1")
        far.send(Buffer.from("GET / HTTP/1.1\r\n\r\n"), port, "127.0.0.1")
      }
      await rest(20)
    }
    far.close()
    await rest(50)
    expect(atB.frames).toBeGreaterThan(44)
    expect(atB.frames).toBeLessThan(58)
  })

  it("goes to where the far side's media comes from, and believes no second source", async () => {
    const b = await end()
    const [far, stranger] = [createSocket("udp4"), createSocket("udp4")]
    for (const socket of [far, stranger]) await new Promise<void>((ready) => socket.bind(0, "127.0.0.1", ready))
    // The described port is not the one that sends: a NAT.
    const answer = (await b.media.answer("v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n")) as string
    const port = Number(/m=audio (\d+)/.exec(answer)?.[1])
    const atB = listen(b.media)
    let [toFar, toStranger] = [0, 0]
    far.on("message", () => toFar++)
    stranger.on("message", () => toStranger++)
    const packet = Buffer.alloc(172, 0x10)
    packet[0] = 0x80
    packet[1] = 0
    let sequence = 0
    await tick(
      20,
      () => b.media.sound().play(undefined),
      () => {
        packet.writeUInt16BE(++sequence, 2)
        packet.writeUInt32BE(sequence * 160, 4)
        far.send(Buffer.from(packet), port, "127.0.0.1")
        if (sequence > 5) stranger.send(Buffer.from(packet), port, "127.0.0.1")
      }
    )
    await rest(50)
    expect(toFar).toBeGreaterThan(10)
    expect(toStranger).toBe(0)
    expect(b.notes.filter((note) => note.startsWith("media moved")).length).toBe(1)
    expect(atB.loud).toBeGreaterThan(10)
    far.close()
    stranger.close()
  })

  it("is held and comes back, and says so when nothing comes for 20 s", async () => {
    let now = 0
    const b = await end({ nowMs: () => now })
    await b.media.answer(offer("sendrecv"))
    const atB = listen(b.media)
    const pass = (ms: number) => {
      for (let gone = 0; gone < ms; gone += 20) {
        now += 20
        b.media.sound().play(undefined)
      }
    }
    pass(19_000)
    expect(atB.silent).toBe(0)
    expect(await b.media.answer(offer("inactive"))).toContain("a=inactive")
    expect(b.media.direction()).toBe("inactive")
    pass(60_000)
    expect(atB.silent).toBe(0)
    expect(await b.media.answer(offer("sendrecv"))).toContain("a=sendrecv")
    pass(19_000)
    expect(atB.silent).toBe(0)
    pass(1_100)
    expect(atB.silent).toBe(1)
  })

  it("keeps the engine's rate when the codec changes in the call", async () => {
    const a = await end()
    const b = await end()
    await a.media.accept((await b.media.answer(only(a.media.offer(), 0))) ?? "")
    const atA = listen(a.media)
    await a.media.accept((await b.media.answer(only(a.media.offer(), 111))) ?? "")
    await tick(
      30,
      () => a.media.sound().play(undefined),
      () => b.media.sound().play(tone(8_000))
    )
    await rest(50)
    expect(atA.loud).toBeGreaterThan(10)
  })

  it("gives its ports back, and says when there are none", async () => {
    const first = await end({ ports: [41_000, 41_001] })
    await expect(end({ ports: [41_000, 41_001] })).rejects.toThrow("no free pair")
    first.media.close()
    await rest(20)
    await end({ ports: [41_000, 41_001] })
  })
})
