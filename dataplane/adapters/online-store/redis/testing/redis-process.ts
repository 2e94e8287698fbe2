/** A Redis of a test's own, on a free port of this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../../../testing/free-port.ts'
import { skipBecause } from '../../../../testing/skip-because.ts'

/** Valkey speaks the same protocol. */
const PROGRAMS = ['redis-server', 'valkey-server']

export interface RedisProcess {
  readonly url: string
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void
  resume(): void
  /** SIGKILL; resolves once it is gone. Nothing of its data is kept. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
}

/** With options of the program beside its own; skips the suite where the machine has no such program. */
export async function startRedis(context: Mocha.Context, options: readonly string[] = []): Promise<RedisProcess> {
  const port = await freePort()
  let child = await launch(port, options)
  if (child === undefined)
    return skipBecause(context, `this machine has no ${PROGRAMS.join(' or ')} (Debian: apt-get install redis-server)`)
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill,
    async restart() {
      await kill()
      child = await launch(port, options)
    },
  }
}

async function launch(port: number, more: readonly string[]): Promise<ChildProcess | undefined> {
  for (const program of PROGRAMS) {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp', ...more]
    const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] })
    const isThere = once(child, 'spawn').then(
      () => true,
      () => false,
    )
    if (!(await isThere)) continue
    for await (const line of createInterface(child.stdout)) if (/ready to accept connections/i.test(line)) break
    child.stdout.resume()
    return child
  }
  return undefined
}
