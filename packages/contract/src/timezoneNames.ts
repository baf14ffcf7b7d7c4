// Names of IANA time zones. Offsets such as "+01:00" are no names, though the platform would take them.

/** Whether this machine knows a zone of that name. */
export const isTimezone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}
