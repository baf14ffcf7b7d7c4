// The path that the OpenRouter-compatible API begins with; its protocol's own paths follow.
export const root = "/compat/api/v1"
