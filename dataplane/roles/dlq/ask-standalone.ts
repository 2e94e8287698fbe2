import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { BusError } from '../../ports/bus.ts'
import type { DlqPlace } from './run-on-bus.ts'
import { type DlqFrame, readFrames, writeFrame } from './socket-frames.ts'
import { socketPath } from './socket-path.ts'

const EXIT_FAILED = 1

/** Has the standalone of a `DATA_DIR` do the command, and gives its exit code; undefined when none runs there. */
export async function askStandalone(
  dataDir: string,
  args: readonly string[],
  { print, stderr }: Pick<DlqPlace, 'print' | 'stderr'>,
): Promise<number | undefined> {
  if (!existsSync(dataDir)) return undefined
  const address = socketPath(dataDir)
  try {
    const socket = await open(address.path)
    if (socket === undefined) return undefined
    socket.on('error', () => socket.destroy())
    await writeFrame(socket, { args })
    for await (const frame of readFrames<DlqFrame>(socket)) {
      if ('code' in frame) return frame.code
      if ('err' in frame) stderr.write(frame.err)
      else if (!(await print(frame.out))) {
        socket.destroy()
        return 0
      }
    }
    stderr.write('logpipeline dlq: the standalone ended before it was done\n')
    return EXIT_FAILED
  } finally {
    address.release()
  }
}

/** Undefined when nobody listens there. */
function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined)
      else reject(new BusError('unavailable', `${path} is there, but cannot be opened: ${error.message}`))
    })
  })
}
