// How a child process of the service lives: it leaves when its parent does, however that died, leaves the decision to it when a
// signal reaches the whole group, and once it has read its models it is nobody.

/** Called once, at the start of the process. */
export const liveWithParent = (): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("SIGINT", () => {})
  process.on("SIGTERM", () => {})
}

/** The user of child processes of a service that runs as root: `nobody` and `nogroup` of every Linux. */
export const unprivileged = { uid: 65_534, gid: 65_534 } as const

/** Called by a process that was started as root, when it has read what only root may read and before it reads untrusted data. */
export const dropPrivileges = (): void => {
  if (process.getuid?.() !== 0) return
  process.setgroups?.([unprivileged.gid])
  process.setgid?.(unprivileged.gid)
  process.setuid?.(unprivileged.uid)
}
