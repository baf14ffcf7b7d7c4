// How an engine process lives: it leaves when its parent does, however that died, and leaves the decision to it when
// a signal reaches the whole group.
/** Called once, at the start of the process. */
export const liveWithParent = (): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("SIGINT", () => {})
  process.on("SIGTERM", () => {})
}
