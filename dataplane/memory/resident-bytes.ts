let last = 0

/** Resident memory of the process. The system tells it in a file; while the process has as many files open as it may, the last figure stands. */
export function residentBytes(): number {
  try {
    last = process.memoryUsage.rss()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EMFILE' && code !== 'ENFILE') throw error
  }
  return last
}
