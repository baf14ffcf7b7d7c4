// The three error bodies, each of which a caller of that API must find whatever it sent.
import { expect } from "vitest"

/** Of the API that a path belongs to. The message is a sentence: no stack, no path, nothing of the input. */
export const expectEnvelope = (path: string, status: number, type: string | null, body: string): void => {
  const told = `${path} ${status} ${body.slice(0, 300)}`
  expect(type, told).toMatch(/^application\/json/)
  const value: unknown = JSON.parse(body)
  if (path.startsWith("/compat/elevenlabs")) {
    expect(value, told).toEqual({ detail: { status: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) } })
  } else if (path.startsWith("/compat/api")) {
    expect(value, told).toMatchObject({
      error: { code: status, message: expect.any(String), type: expect.any(String) }
    })
  } else expect(value, told).toMatchObject({ status, message: expect.any(String), reason: null })
  expect(body, told).not.toMatch(/node_modules|\.ts:|    at |\/tmp\//)
  expect(body.length, told).toBeLessThan(4000)
}
