import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROLES, type RoleName } from '../../../contract/roles.ts'
import { freePort } from '../../../testing/free-port.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../../hack/logpipeline')
const READY_WITHIN_MS = 120_000

/** A role in a process of its own. */
export interface RoleProcess {
  readonly pid: number
  /** Address of the API, or of health and metrics. */
  readonly url: string
  /** Address of the listener that `setting` moves. */
  urlOf(setting: string): string
  /** Its last output. */
  output(): string
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Value of one counter in the role's metrics. */
  counter(name: string): Promise<number>
}

/** Starts a role on free ports; resolves once it is healthy. */
export async function startRole(role: RoleName, env: Readonly<Record<string, string>>): Promise<RoleProcess> {
  const { listens } = ROLES[role]
  const ports = Object.fromEntries(await Promise.all(listens.map(async ({ setting }) => [setting, String(await freePort())] as const)))
  const child = spawn(PROGRAM, role.split(' '), {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', ...env, ...ports },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-20_000)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const gone = new Promise<number | null>(done => child.once('exit', code => done(code)))
  const urlOf = (setting: string) => `http://127.0.0.1:${ports[setting]}`
  const url = urlOf(listens.at(-1)!.setting)
  await untilHealthy(role, child, url, () => output)
  return {
    pid: child.pid!,
    url,
    urlOf,
    output: () => output,
    signal: name => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async stop() {
      child.kill('SIGTERM')
      return gone
    },
    async counter(name) {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
    },
  }
}

async function untilHealthy(role: RoleName, child: ChildProcess, url: string, output: () => string): Promise<void> {
  const deadlineMs = Date.now() + READY_WITHIN_MS
  const path = role === 'search' ? '/_cluster/health' : '/health'
  const isHealthy = () =>
    fetch(url + path).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isHealthy())) {
    if (child.exitCode !== null || Date.now() > deadlineMs) {
      child.kill('SIGKILL')
      throw new Error(`${role} does not get healthy:\n${output()}`)
    }
    await sleep(100)
  }
}
