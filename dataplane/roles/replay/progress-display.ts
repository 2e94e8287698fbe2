/** Progress on a terminal as one line that is redrawn, elsewhere as a plain line now and then. */

export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressDisplay {
  /** Shows a line that stays. */
  note(line: string): void
  /** Draws the last state and stops. */
  stop(): void
}

const REDRAW_MS = 100
const PLAIN_LINE_MS = 5_000
/** Further notes are only counted, so that a broken file cannot flood the screen. */
const MAX_NOTES = 100

export function showProgress(stream: ProgressStream, format: () => string): ProgressDisplay {
  const isTerminal = stream.isTTY === true
  let notes = 0
  const draw = () => stream.write(isTerminal ? `\r\x1b[2K${format().slice(0, Math.max(20, (stream.columns || 80) - 1))}` : `${format()}\n`)
  const timer = setInterval(draw, isTerminal ? REDRAW_MS : PLAIN_LINE_MS)
  timer.unref()
  return {
    note(line) {
      notes += 1
      if (notes > MAX_NOTES) return
      stream.write(`${isTerminal ? '\r\x1b[2K' : ''}${line}\n`)
      if (isTerminal) draw()
    },
    stop() {
      clearInterval(timer)
      if (isTerminal) draw()
      if (isTerminal) stream.write('\n')
      if (notes > MAX_NOTES) stream.write(`${notes - MAX_NOTES} further problems not shown\n`)
    },
  }
}
