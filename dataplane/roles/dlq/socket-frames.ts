/** Frames on the socket of a standalone: from the command one line with its arguments, from the standalone one line for each piece of its answer. */
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface DlqRequest {
  readonly args: readonly string[]
}

export type DlqFrame =
  /** For the standard output, for the standard error. */
  | { readonly out: string }
  | { readonly err: string }
  /** The last: the exit code. */
  | { readonly code: number }

/** Resolves to false when nobody reads any more. */
export function writeFrame(socket: Socket, frame: DlqFrame | DlqRequest): Promise<boolean> {
  return new Promise(resolve => {
    if (socket.destroyed) resolve(false)
    else socket.write(`${JSON.stringify(frame)}\n`, error => resolve(error === undefined || error === null))
  })
}

/** The lines of the other side, until it ends. */
export async function* readFrames<T>(socket: Socket): AsyncGenerator<T> {
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) yield JSON.parse(line) as T
}
