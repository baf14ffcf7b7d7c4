// Where layer A begins; its protocol's own paths follow.
export const root = "/compat/elevenlabs"
