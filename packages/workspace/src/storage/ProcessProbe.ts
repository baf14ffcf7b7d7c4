// Questions about other processes: are they alive, since when, and what are they. A process id alone says little,
// because ids are reused, at once in containers. Linux is asked through /proc, other systems through `ps`.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** Whether a process of this id exists, whoever owns it. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Something that differs between two processes of the same id; undefined when the process is gone. */
export const birthOf = (pid: number): string | undefined => {
  if (!isAlive(pid)) return undefined
  if (process.platform !== "linux") return ps(pid, "lstart=")
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // Field 22 counts after the command, which is in parentheses and may hold anything. A zombie is dead.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" ? undefined : `${bootId()}/${fields[19]}`
  } catch {
    return undefined
  }
}

/** The arguments it was started with, joined by spaces; empty when they cannot be read. */
export const commandOf = (pid: number): string => {
  if (process.platform !== "linux") return ps(pid, "args=") ?? ""
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

const bootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return ""
  }
}

const ps = (pid: number, field: string): string | undefined => {
  try {
    return execFileSync("ps", ["-o", field, "-p", String(pid)], { encoding: "utf8" }).trim() || undefined
  } catch {
    return undefined
  }
}
