/** Passes over failures of the disk, which leave everything as it was. Any other error is a fault of the program. */
export function unlessOfSystem(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error
}
