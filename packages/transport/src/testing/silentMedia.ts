// The media of a telephone call without sockets and without sound, for tests of its signalling.
import type { Media } from "../rtp/Media.ts"
import { agree } from "../rtp/negotiation.ts"
import { readSdp } from "../rtp/sdp.ts"

/** Descriptions are read as in the field; nothing sounds. */
export const silentMedia = (): Media => {
  const ours = "v=0\r\no=- 1 1 IN IP4 192.0.2.10\r\ns=-\r\nc=IN IP4 192.0.2.10\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"
  return {
    offer: () => ours,
    answer: async (offer) => (fits(offer) ? ours : undefined),
    accept: async (answer) => fits(answer),
    current: () => ours,
    direction: () => "sendrecv",
    heard: Promise.resolve(),
    sound: () => ({ playRate: 8000, play: () => undefined, hear: () => undefined, sendDigits: () => undefined }),
    close: () => undefined
  }
}

const fits = (description: string): boolean => {
  const media = readSdp(description)
  return media !== undefined && agree(media, false) !== undefined
}
