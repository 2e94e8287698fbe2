/** A server in a process of its own that outlives this one, known by its pid file. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST } from './place.ts'
import type { Server } from './server.ts'

export interface ServerProcess {
  readonly pidFile: string
  /** Part of its command line: a pid that another process has got meanwhile is never ended. */
  readonly mark: string
}

export interface Launch extends ServerProcess {
  readonly command: readonly [string, ...(readonly string[])]
  readonly env?: Readonly<Record<string, string>>
  readonly logFile: string
}

const STOP_TIMEOUT_MS = 20_000

export function processServer(server: ServerProcess & Pick<Launch, 'logFile'>): Server {
  return {
    name: server.mark,
    pid: () => pidOf(server),
    stop: signal => stopProcess(server, signal),
    freeze: () => freezeProcess(server),
    thaw: () => thawProcess(server),
    logEnd: () => endOf(server.logFile),
  }
}

/** The process's id while it runs. */
function pidOf({ pidFile, mark }: ServerProcess): number | undefined {
  if (!existsSync(pidFile)) return undefined
  const pid = Number(readFileSync(pidFile, 'utf8'))
  try {
    return commandLineOf(pid).includes(mark) ? pid : undefined
  } catch {
    return undefined // no such process
  }
}

function commandLineOf(pid: number): string {
  if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

export function launch({ pidFile, command: [program, ...args], env, logFile }: Launch): void {
  mkdirSync(dirname(pidFile), { recursive: true })
  const log = openSync(logFile, 'w')
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', log, log],
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
  })
  child.on('error', () => undefined) // shows as a process that is not there
  child.unref()
  writeFileSync(pidFile, String(child.pid))
}

/** Throws when somebody else listens there already: it would be taken for the server that is started. */
export async function expectFreePort(port: number, setting: string): Promise<void> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, HOST, resolve))
  } catch (error) {
    throw new Error(`port ${port} is taken (${(error as NodeJS.ErrnoException).code}); ${setting} moves it`)
  } finally {
    server.close()
  }
}

/** Asks it to end, and kills it when it has not within 20 s; resolves once it is gone. */
async function stopProcess(server: ServerProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  const pid = pidOf(server)
  if (pid !== undefined) {
    process.kill(pid, signal)
    const deadlineMs = Date.now() + STOP_TIMEOUT_MS
    while (pidOf(server) !== undefined) {
      if (Date.now() > deadlineMs) process.kill(pid, 'SIGKILL')
      await sleep(50)
    }
  }
  rmSync(server.pidFile, { force: true })
}

/** Stops a process in its tracks, as a machine that hangs; resolves once none of its threads runs any more. */
async function freezeProcess(server: ServerProcess): Promise<void> {
  const pid = runningPid(server)
  process.kill(pid, 'SIGSTOP')
  const isStopped = (thread: string) => /^State:\s+[Tt]/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) await sleep(5)
}

/** Lets it go on. */
function thawProcess(server: ServerProcess): void {
  process.kill(runningPid(server), 'SIGCONT')
}

function runningPid(server: ServerProcess): number {
  const pid = pidOf(server)
  if (pid === undefined) throw new Error(`${server.mark} does not run`)
  return pid
}

function endOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n') : '(no log)'
}
