import { closeSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Bytes that an address of a Unix socket has room for on every system. */
const MAX_PATH_BYTES = 100

export interface SocketPath {
  readonly path: string
  /** The path is used no more. */
  release(): void
}

/** Where the standalone of a `DATA_DIR` listens for commands. A long path is taken by way of an open directory, as Linux can. */
export function socketPath(dataDir: string): SocketPath {
  const path = join(resolve(dataDir), NAME)
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, release: () => undefined }
  const directory = openSync(dataDir, 'r')
  return { path: `/proc/self/fd/${directory}/${NAME}`, release: () => closeSync(directory) }
}

const NAME = 'command.sock'
