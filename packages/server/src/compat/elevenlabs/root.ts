// The path that the ElevenLabs-compatible API begins with; its protocol's own paths follow.
export const root = "/compat/elevenlabs"
