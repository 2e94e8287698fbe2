/** Frames on the socket of a standalone, one JSON a line: from the command its name and arguments, from the standalone the pieces of its answer. */
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface CommandRequest {
  readonly command: string
  readonly args: readonly string[]
}

export type CommandFrame =
  /** For the standard output, for the standard error. */
  | { readonly out: string }
  | { readonly err: string }
  /** For the command itself. */
  | { readonly data: unknown }
  /** The last: the exit code. */
  | { readonly code: number }

/** Resolves to false when nobody reads any more. */
export function writeFrame(socket: Socket, frame: CommandFrame | CommandRequest): Promise<boolean> {
  return new Promise(resolve => {
    if (socket.destroyed) resolve(false)
    else socket.write(`${JSON.stringify(frame)}\n`, error => resolve(error === undefined || error === null))
  })
}

/** The lines of the other side, until it ends. */
export async function* readFrames<T>(socket: Socket): AsyncGenerator<T> {
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) yield JSON.parse(line) as T
}
