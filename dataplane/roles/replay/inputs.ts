/** The files of one replay as a single run of lines. */
import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { type LogLine, readLines } from './log-lines.ts'

/** A line with its place (`file:line`), or the point where a file could not be read any further. */
export type Input = { readonly place: string; readonly bytes: LogLine['bytes'] } | { readonly place: string; readonly unreadable: string }

export interface Inputs {
  readonly lines: AsyncGenerator<Input>
  /** Bytes taken from the files so far, as they lie on disk. */
  bytesRead(): number
}

export function readInputs(files: readonly string[]): Inputs {
  let bytes = 0
  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length
      yield chunk
    }
  }
  async function* all(): AsyncGenerator<Input> {
    for (const file of files) {
      const name = file === '-' ? 'stdin' : file
      let line = 0
      try {
        for await (const { number, bytes } of readLines(counted(file === '-' ? process.stdin : createReadStream(file)))) {
          line = number
          yield { place: `${name}:${number}`, bytes }
        }
      } catch (error) {
        yield { place: `${name}:${line + 1}`, unreadable: `cannot be read further: ${(error as Error).message}` }
      }
    }
  }
  return { lines: all(), bytesRead: () => bytes }
}

/** Problems with the files that can be seen before anything is sent. */
export async function findUnreadable(files: readonly string[], readTwice: boolean): Promise<readonly string[]> {
  const problems = await Promise.all(
    files
      .filter(file => file !== '-')
      .map(async file => {
        try {
          await access(file, constants.R_OK)
          const stats = await stat(file)
          if (stats.isDirectory()) return `${file}: is a directory, expected a file`
          if (readTwice && !stats.isFile()) return `${file}: is no regular file, and --shift-to-now reads its input twice`
          return undefined
        } catch (error) {
          return `${file}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (error as Error).message}`
        }
      }),
  )
  return problems.filter(problem => problem !== undefined)
}

/** Bytes on disk of all files; undefined when stdin or a pipe is among them. */
export async function inputSize(files: readonly string[]): Promise<number | undefined> {
  if (files.includes('-')) return undefined
  const stats = await Promise.all(files.map(file => stat(file)))
  return stats.every(one => one.isFile()) ? stats.reduce((sum, one) => sum + one.size, 0) : undefined
}
