/** Does the work of commands in the process that owns the embedded storage. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { Log } from '../telemetry/log.ts'
import { type CommandRequest, readFrames, writeFrame } from './frames.ts'
import { socketPath } from './socket-path.ts'

/** Commands at once. */
const MAX_COMMANDS = 8

/** The other side of a command, in another process. Each promise resolves to false when that process has gone. */
export interface CommandConnection {
  print(text: string): Promise<boolean>
  readonly stderr: { write(text: string): unknown }
  /** Something for the command itself. */
  tell(data: unknown): Promise<boolean>
  /** Resolves when the command has gone, or is done. */
  readonly gone: Promise<void>
}

/** Resolves to the exit code. What it rejects with is printed to the command's standard error. */
export type CommandHandler = (args: readonly string[], connection: CommandConnection) => Promise<number>

export interface CommandSocketDeps {
  /** The socket is made there; nobody else may be using the directory. */
  readonly dataDir: string
  readonly commands: ReadonlyMap<string, CommandHandler>
  readonly log: Log
}

/**
 * Does the work of commands for other processes, as the storage belongs to this one. By a socket in `DATA_DIR` that its owner alone can open:
 * users who may read the files may ask. Where there can be no socket, the log says so, and all else goes on.
 */
export async function startCommandSocket(deps: CommandSocketDeps): Promise<{ stop(): Promise<void> }> {
  const { dataDir, log } = deps
  const address = socketPath(dataDir)
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    void serve(socket, deps)
  })
  server.maxConnections = MAX_COMMANDS
  // The socket of a process that was killed.
  rmSync(address.path, { force: true })
  await new Promise<void>(resolve => {
    server.on('error', error => {
      log.warn({ error, dataDir }, 'commands of other processes cannot reach this one')
      resolve()
    })
    server.listen(address.path, resolve)
    if (server.listening) chmodSync(address.path, OWNER_ALONE)
  })
  return {
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
      address.release()
    },
  }
}

const OWNER_ALONE = 0o600

async function serve(socket: Socket, { commands, log }: CommandSocketDeps): Promise<void> {
  let command = ''
  try {
    for await (const request of readFrames<CommandRequest>(socket)) {
      command = request.command
      const handler = commands.get(command)
      if (handler === undefined) throw new Error('the standalone that runs there is of another version')
      const code = await handler(request.args, {
        print: out => writeFrame(socket, { out }),
        stderr: { write: (err: string) => void writeFrame(socket, { err }) },
        tell: data => writeFrame(socket, { data }),
        gone: new Promise(resolve => socket.once('close', () => resolve())),
      })
      await writeFrame(socket, { code })
      return void socket.end()
    }
  } catch (error) {
    log.warn({ error, command }, 'a command of another process failed')
    await writeFrame(socket, { err: `logpipeline ${command}: ${error instanceof Error ? error.message : String(error)}\n` })
    await writeFrame(socket, { code: 1 })
    socket.end()
  }
}
