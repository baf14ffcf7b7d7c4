// Where layer B begins; its protocol's own paths follow.
export const root = "/compat/api/v1"
