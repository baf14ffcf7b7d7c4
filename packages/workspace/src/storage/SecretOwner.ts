// What a sealed value belongs to: table, column and record. It goes into the seal (as the additional data of AES-GCM), so that a
// ciphertext that is copied to another record does not open there. Copies that the service makes itself keep their owner (a
// version is its agent's, a pinned tool its tool's) or are sealed again.

/** Table, column and record id. */
export type SecretOwner = `${string}.${string}/${string}`

/** The owners of sealed values, by id. */
export const secretOwner = {
  /** Webhook secrets and the model's key in a configuration: the draft, its versions, previews and batches of tests. */
  agent: (id: string): SecretOwner => `agents.draft/${id}`,
  tool: (id: string): SecretOwner => `tools.definition/${id}`,
  mcpServer: (id: string): SecretOwner => `mcp_servers.definition/${id}`,
  /** Of an imported number. */
  number: (id: string): SecretOwner => `phone_numbers.trunk/${id}`,
  /** Of a number that can be bought, by E.164. */
  stockedNumber: (phoneNumber: string): SecretOwner => `number_inventory.trunk/${phoneNumber}`,
  delivery: (id: string): SecretOwner => `webhook_deliveries.secret/${id}`,
  setting: (name: string): SecretOwner => `settings.value/${name}`
} as const
