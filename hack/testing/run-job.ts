/** Runs one job in a process of its own. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childrenCpuMs } from './children-cpu.ts'
import type { Job } from './jobs.ts'
import type { TestEvent } from './mocha-worker.ts'

export interface JobResult {
  readonly name: string
  readonly ms: number
  /** CPU time of its process and of those that this one started and saw end; undefined where the system does not tell. */
  readonly cpuMs: number | undefined
  readonly passed: number
  readonly failures: readonly { readonly title: string; readonly error: string }[]
  readonly skipped: readonly string[]
  readonly durations: readonly { readonly title: string; readonly ms: number }[]
}

const WORKER = fileURLToPath(new URL('mocha-worker.ts', import.meta.url))
const JOB_LIMIT_MS = 240_000
/** A test process that is done must end by itself; what keeps it alive was left open. */
const EXIT_LIMIT_MS = 10_000
const MAX_OUTPUT_CHARACTERS = 50_000

/** Leaders of the process groups of jobs that run: each job has one of its own, so that all that it started ends with it. */
const running = new Set<number>()
process.once('exit', () => running.forEach(endGroup))

/** CPU time of all jobs that have ended: what one adds when it ends is its own. */
let spentMs = childrenCpuMs()

/** `given`: variables of the environment beside those of this process. */
export function runJob(job: Job, given: Readonly<Record<string, string>> = {}): Promise<JobResult> {
  const [command, ...args] =
    job.kind === 'check' ? job.command : [process.execPath, '--disable-warning=ExperimentalWarning', WORKER, ...job.files]
  const startedMs = Date.now()
  let output = ''
  let ended = false
  let cpuMs: number | undefined
  let killedBecause: string | undefined
  const passes: { title: string; ms: number }[] = []
  const failures: { title: string; error: string }[] = []
  const skipped: string[] = []

  const env = { ...process.env, ...(job.kind === 'check' && job.env), ...given }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true })
  if (child.pid !== undefined) running.add(child.pid)
  const kill = (reason: string) => {
    killedBecause = reason
    endGroup(child.pid!)
  }
  const limitMs = (job.kind === 'tests' ? job.limitMs : undefined) ?? JOB_LIMIT_MS
  let timer = setTimeout(kill, limitMs, `did not end within ${limitMs / 1000} s`)
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-MAX_OUTPUT_CHARACTERS)
  }
  child.stdout!.on('data', collect)
  child.stderr!.on('data', collect)
  child.on('message', message => {
    const event = message as TestEvent
    if (event.type === 'pass') passes.push({ title: event.title, ms: event.durationMs })
    else if (event.type === 'fail') failures.push({ title: event.title, error: event.error })
    else if (event.type === 'skip') skipped.push(event.title)
    else {
      ended = true
      clearTimeout(timer)
      timer = setTimeout(
        kill,
        EXIT_LIMIT_MS,
        `its process stays alive ${EXIT_LIMIT_MS / 1000} s after the last test: something was left open`,
      )
    }
  })

  return new Promise(resolve => {
    const finish = (problem: string | undefined) => {
      clearTimeout(timer)
      if (problem !== undefined) failures.push({ title: job.name, error: `${problem}\n${output.trim()}` })
      const passed = job.kind === 'check' ? (problem === undefined ? 1 : 0) : passes.length
      resolve({ name: job.name, ms: Date.now() - startedMs, cpuMs, passed, failures, skipped, durations: passes })
    }
    child.on('error', error => finish(`cannot be started: ${error.message}`))
    child.on('exit', () => {
      running.delete(child.pid!)
      endGroup(child.pid!)
      const nowMs = childrenCpuMs()
      if (nowMs !== undefined && spentMs !== undefined) cpuMs = nowMs - spentMs
      spentMs = nowMs
    })
    child.on('close', (code, signal) => {
      if (killedBecause !== undefined) finish(killedBecause)
      else if (job.kind === 'check') finish(code === 0 ? undefined : `exit code ${code ?? signal}`)
      else if (!ended) finish(`the test process ended before its tests did (${code ?? signal})`)
      else finish(code === 0 || failures.length > 0 ? undefined : `exit code ${code ?? signal} after the last test`)
    })
  })
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
