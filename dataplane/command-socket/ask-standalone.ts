import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { type CommandFrame, type CommandRequest, readFrames, writeFrame } from './frames.ts'
import { socketPath } from './socket-path.ts'

const EXIT_FAILED = 1

/** Takes the pieces of an answer. */
export interface AnswerTaker {
  /** Resolves to false when nobody reads any more. */
  readonly print: (text: string) => Promise<boolean>
  readonly stderr: { write(text: string): unknown }
  /** Takes what is for the command itself; the standalone waits meanwhile. False ends the conversation, as done. */
  readonly take?: (data: unknown) => Promise<boolean>
}

/** The socket is there, and cannot be opened. */
export class StandaloneUnreachable extends Error {}

/** Has the standalone of a `DATA_DIR` do the command, and gives its exit code; undefined when none runs there. Rejects as `take` does. */
export async function askStandalone(
  dataDir: string,
  request: CommandRequest,
  { print, stderr, take = () => Promise.resolve(true) }: AnswerTaker,
): Promise<number | undefined> {
  if (!existsSync(dataDir)) return undefined
  const address = socketPath(dataDir)
  let socket: Socket | undefined
  try {
    socket = await open(address.path)
    if (socket === undefined) return undefined
    socket.on('error', () => socket?.destroy())
    await writeFrame(socket, request)
    for await (const frame of readFrames<CommandFrame>(socket)) {
      if ('code' in frame) return frame.code
      if ('err' in frame) stderr.write(frame.err)
      else if (!('data' in frame ? await take(frame.data) : await print(frame.out))) return 0
    }
    stderr.write(`logpipeline ${request.command}: the standalone ended before it was done\n`)
    return EXIT_FAILED
  } finally {
    socket?.destroy()
    address.release()
  }
}

/** Undefined when nobody listens there. */
function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined)
      else reject(new StandaloneUnreachable(`${path} is there, but cannot be opened: ${error.message}`))
    })
  })
}
