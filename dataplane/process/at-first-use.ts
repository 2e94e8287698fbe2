/** Something that is opened when it is first needed: a process that never needs it spares its code. */
export interface AtFirstUse<T> {
  /** The same for all who ask. */
  open(): Promise<T>
  /** Ends it where it was opened. */
  close(end: (opened: T) => Promise<unknown>): Promise<void>
}

export function atFirstUse<T>(make: () => Promise<T>): AtFirstUse<T> {
  let opened: Promise<T> | undefined
  return {
    open() {
      opened ??= make()
      return opened
    },
    async close(end) {
      if (opened !== undefined) await end(await opened)
    },
  }
}
