/** Lines of a byte stream, plain or gzip, one at a time. */
import { unpackPerhapsGzip } from '../../compression/perhaps-gzip.ts'

/** A longer line cannot be one request: collectors refuse it (Decisions 2, `MAX_REQUEST_BYTES`). */
const MAX_LINE_BYTES = 64 * 1024 * 1024

export interface LogLine {
  /** Counted from 1. */
  readonly number: number
  /** Without the line break; undefined when it was longer than `maxBytes` and has been skipped. */
  readonly bytes: Buffer | undefined
}

const LINE_FEED = 0x0a

/** Yields the lines that are not blank. Holds at most one line and one chunk; throws when the source or its compression breaks. */
export async function* readLines(source: AsyncIterable<Buffer>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<LogLine> {
  let parts: Buffer[] = []
  let size = 0
  let number = 1
  const take = (): LogLine | undefined => {
    const bytes = size > maxBytes ? undefined : Buffer.concat(parts, size)
    parts = []
    size = 0
    return bytes !== undefined && isBlank(bytes) ? undefined : { number, bytes }
  }
  for await (const chunk of unpackPerhapsGzip(source)) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, end))
      const line = take()
      if (line !== undefined) yield line
      number += 1
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  const last = take()
  if (last !== undefined) yield last

  function add(part: Buffer): void {
    size += part.length
    if (size <= maxBytes) parts.push(part)
    else parts = []
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every(byte => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
