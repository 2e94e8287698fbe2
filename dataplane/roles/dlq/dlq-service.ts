/** Does the work of `logpipeline dlq` in the process that owns the embedded bus. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { BusError } from '../../ports/bus.ts'
import type { Log } from '../../telemetry/log.ts'
import { parseDlqOptions } from './dlq-options.ts'
import { type DlqPlace, runOnBus } from './run-on-bus.ts'
import { type DlqRequest, readFrames, writeFrame } from './socket-frames.ts'
import { socketPath } from './socket-path.ts'

/** Commands at once. */
const MAX_COMMANDS = 8

export interface DlqServiceDeps extends Pick<DlqPlace, 'bus' | 'settings' | 'clock'> {
  /** The socket is made there; nobody else may be using the directory. */
  readonly dataDir: string
  readonly log: Log
}

/**
 * Does the work of `logpipeline dlq` for another process, as the bus belongs to this one. By a socket in `DATA_DIR` that its owner alone can open:
 * whoever may read the files may ask. Where there can be no socket, the log says so, and all else goes on.
 */
export async function startDlqService(deps: DlqServiceDeps): Promise<{ stop(): Promise<void> }> {
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
      log.warn({ error, dataDir }, '`logpipeline dlq` cannot reach this process')
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

async function serve(socket: Socket, { bus, settings, clock, log }: DlqServiceDeps): Promise<void> {
  try {
    for await (const { args } of readFrames<DlqRequest>(socket)) {
      const parsed = parseDlqOptions(args, clock.nowMs())
      if (!('config' in parsed)) throw new Error('the arguments are none of this version')
      const place: DlqPlace = {
        bus,
        settings,
        clock,
        print: out => writeFrame(socket, { out }),
        stderr: { write: (err: string) => void writeFrame(socket, { err }) },
      }
      await runOnBus(parsed.config, place)
      await writeFrame(socket, { code: 0 })
      return void socket.end()
    }
  } catch (error) {
    const reason = error instanceof BusError ? `the message bus failed (${error.reason}): ${error.message}` : String(error)
    log.warn({ error }, 'a `logpipeline dlq` failed')
    await writeFrame(socket, { err: `logpipeline dlq: ${reason}\n` })
    await writeFrame(socket, { code: 1 })
    socket.end()
  }
}
