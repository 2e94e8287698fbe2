import { setTimeout as sleep } from 'node:timers/promises'

/** A server on this machine that outlives the process that started it: a process or a container. */
export interface Server {
  /** For messages. */
  readonly name: string
  /** Id of the server's process; undefined while no process runs. */
  pid(): number | undefined
  /** `SIGTERM` asks it to end, and kills it when it has not within 20 s; resolves once it is gone. Its data stays. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Stops it in its tracks, as a machine that hangs. */
  freeze(): Promise<void>
  /** Lets it go on. */
  thaw(): void
  /** Last lines of its log. */
  logEnd(): string
}

/** Resolves once `isReady`; rejects with the end of the log when the server dies or `timeoutMs` pass. */
export async function waitUntilReady(server: Server, isReady: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs
  while (!(await isReady())) {
    if (server.pid() === undefined && (await staysGone(server))) throw new Error(`${server.name} died:\n${server.logEnd()}`)
    if (Date.now() > deadlineMs) throw new Error(`${server.name} does not answer after ${timeoutMs / 1000} s:\n${server.logEnd()}`)
    await sleep(250)
  }
}

/** Scripts end as the server that they start; a process has no command line for the moment in which it becomes another program. */
async function staysGone(server: Server): Promise<boolean> {
  await sleep(250)
  return server.pid() === undefined
}
