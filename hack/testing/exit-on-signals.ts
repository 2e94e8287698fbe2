let isAsked = false

/** Lets signals that end this process end it through its `exit` handlers, which clear up. */
export function exitOnSignals(): void {
  if (isAsked) return
  isAsked = true
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
}
