/** Reads the value of a setting from a file (`NAME_FILE`, Decisions 2). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Larger than any key or certificate chain. */
const MAX_VALUE_FILE_BYTES = 1024 * 1024

/** A file that holds no value; both parts complete the sentence `expected …, seen … (…)`. */
export class UnusableFile extends Error {
  readonly expected: string
  readonly seen: string
  constructor(expected: string, seen: string, cause?: unknown) {
    super(`expected ${expected}, seen ${seen}`, { cause })
    this.expected = expected
    this.seen = seen
  }
}

/** The text of a file or pipe without its last line end. Throws `UnusableFile`. */
export function readValueFile(path: string): string {
  const bytes = readBytes(path)
  const text = bytes.toString('utf8')
  if (text.includes('\0')) throw new UnusableFile('a file of text', 'it holds zero bytes')
  return text.replace(/\r?\n$/, '')
}

function readBytes(path: string): Buffer {
  try {
    const file = openSync(path, 'r')
    try {
      return readBounded(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof UnusableFile) throw error
    throw new UnusableFile('a readable file', String((error as NodeJS.ErrnoException).code), error)
  }
}

/** A device may have no end. */
function readBounded(file: number): Buffer {
  const stat = fstatSync(file)
  if (!stat.isFile() && !stat.isFIFO() && !stat.isDirectory()) throw new UnusableFile('a file', 'a device or socket')
  const bytes = Buffer.alloc(Math.min(stat.isFile() ? stat.size : MAX_VALUE_FILE_BYTES, MAX_VALUE_FILE_BYTES) + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read) read = readSync(file, bytes, length, bytes.length - length, null)
  if (length > MAX_VALUE_FILE_BYTES) throw new UnusableFile(`a file of at most ${MAX_VALUE_FILE_BYTES} bytes`, 'more')
  return bytes.subarray(0, length)
}
