/**
 * `npm run test:real`: runs the suites `*.real.ts` against real Kafka, OpenSearch and Redis; `npm run test:cluster`: the suites `*.cluster.ts`
 * against a real Kubernetes (a kubeconfig in REAL_KUBERNETES is used instead). Starts what is missing, runs two suites at a time where they need different
 * servers, and stops what it started. Suites that this machine cannot run are reported as skipped, with the reason. The last line is `N passed, N failed`.
 * A suite that fails is tried once more at the end, alone, and named. Arguments pick the suites whose path contains one of them; `--keep` leaves the back ends running.
 */
import { resolve } from 'node:path'
import { addressVariable } from '../../dataplane/testing/real/address.ts'
import { BACKENDS, type BackendName } from '../../dataplane/testing/real/backends.ts'
import { NO_TIME_LEFT, timeLeftMs } from '../../dataplane/testing/real/time-left.ts'
import { Unavailable } from '../../dataplane/testing/real/unavailable.ts'
import { type JobResult, runJob } from '../testing/run-job.ts'
import { findSuites, isSuiteKind, type RealSuite, SUITE_KINDS } from './suites.ts'
import { inTurns, SUITES_AT_ONCE, takeSuite } from './turns.ts'

process.chdir(resolve(import.meta.dirname, '../..'))
const [kind = '', ...args] = process.argv.slice(2)
if (!isSuiteKind(kind)) throw new Error(`expected ${SUITE_KINDS.join(' or ')} as first argument, got ${kind}`)
const keeps = args.includes('--keep')
const wanted = args.filter(arg => arg !== '--keep')
const { suites, problems } = findSuites(kind, file => wanted.length === 0 || wanted.some(part => file.includes(part)))

const started = new Set<BackendName>()
const unavailable = new Map<BackendName, string>()
const skipped: string[] = []
const failures: string[] = [...problems]
/** Whole systems start, roll and stop in some of them. */
const SUITE_LIMIT_MS = (process.env['TICKETS_FAULTS'] === 'all' ? 60 : 15) * 60_000
/** Tests that failed at the first try. */
const retried: string[] = []
let passed = 0
let lastTurn: Promise<unknown> = Promise.resolve()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stopAll().finally(() => process.exit(130)))
const waiting = [...inTurns(suites)]
const running = new Map<RealSuite, Promise<void>>()
/** Suites whose second try comes at the end, with what the first one brought. */
const failedOnce: { readonly suite: RealSuite; readonly first: JobResult }[] = []
try {
  while (waiting.length + running.size > 0) {
    beginSuites()
    await Promise.race(running.values())
    await stopUnneeded([...running.keys(), ...waiting, ...failedOnce.map(({ suite }) => suite)])
  }
  for (const [index, { suite, first }] of failedOnce.entries()) {
    if (timeLeftMs() <= 0) show(first)
    else await runSuite(suite, show)
    await stopUnneeded(failedOnce.slice(index + 1).map(({ suite: next }) => next))
  }
} finally {
  await stopAll()
}
summarise()

function beginSuites(): void {
  while (running.size < SUITES_AT_ONCE) {
    const suite = takeSuite(waiting, [...running.keys()])
    if (suite === undefined) return
    const ended = runSuite(suite, result => noteFirst(suite, result)).finally(() => running.delete(suite))
    running.set(suite, ended)
  }
}

async function runSuite({ file, needs }: RealSuite, onResult: (result: JobResult) => void): Promise<void> {
  const reason = timeLeftMs() <= 0 ? NO_TIME_LEFT : await inTurn(() => startAll(needs))
  if (reason !== undefined) {
    skipped.push(`${file}: ${reason}`)
    console.log(`skip  ${file}: ${reason}`)
    return
  }
  onResult(await runJob({ kind: 'tests', name: file, files: [file], limitMs: SUITE_LIMIT_MS }))
}

/** Servers that start and die on a busy machine fail now and then for reasons of their own: a suite may try once more, and that shows. */
function noteFirst(suite: RealSuite, result: JobResult): void {
  if (result.failures.length === 0 || timeLeftMs() <= 0) {
    show(result)
    return
  }
  for (const { title, error } of result.failures)
    console.log(`again ${suite.file}\n\n      ${title}\n${error.replace(/^/gm, '        ')}\n`)
  retried.push(...result.failures.map(({ title }) => title))
  failedOnce.push({ suite, first: result })
}

/** Servers start and stop one after the other: two may need the same download or program, and none is started while it is being stopped. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = lastTurn.then(work)
  lastTurn = done.catch(() => undefined)
  return done
}

/** Why the suite cannot run; undefined once all is up. A back end that should start and does not is a failure, not a reason to skip. */
async function startAll(needs: readonly BackendName[]): Promise<string | undefined> {
  for (const name of needs) {
    if (!unavailable.has(name)) await start(name)
    const reason = unavailable.get(name)
    if (reason !== undefined) return `${name}: ${reason}`
    process.env[addressVariable(name)] ??= BACKENDS[name].address()
  }
  return undefined
}

async function start(name: BackendName): Promise<void> {
  if (started.has(name) || process.env[addressVariable(name)] !== undefined || (await BACKENDS[name].isUp())) return
  const startedMs = Date.now()
  try {
    started.add(name)
    await BACKENDS[name].start()
    console.log(`up    ${name} ${BACKENDS[name].address()} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`)
  } catch (error) {
    unavailable.set(name, (error as Error).message)
    if (!(error instanceof Unavailable)) failures.push(`${name} does not start: ${(error as Error).message}`)
  }
}

function show({ name, ms, cpuMs, passed: count, failures: failed, skipped: left }: JobResult): void {
  passed += count
  failures.push(...failed.map(({ title }) => title))
  skipped.push(...left)
  const counts = `${count} passed${failed.length > 0 ? `, ${failed.length} failed` : ''}${left.length > 0 ? `, ${left.length} skipped` : ''}`
  console.log(
    `${failed.length > 0 ? 'FAIL' : 'ok  '}  ${name} ${counts} (${seconds(ms)}${cpuMs === undefined ? '' : `, CPU ${seconds(cpuMs)}`})`,
  )
  for (const { title, error } of failed) console.log(`\n      ${title}\n${error.replace(/^/gm, '        ')}\n`)
}

/** Memory and processors are for the suites that come. */
async function stopUnneeded(coming: readonly RealSuite[]): Promise<void> {
  if (keeps) return
  const unneeded = [...started].filter(name => !coming.some(({ needs }) => needs.includes(name)))
  await inTurn(() => Promise.all(unneeded.map(stop)))
}

async function stopAll(): Promise<void> {
  if (!keeps) await Promise.all([...started].map(stop))
}

async function stop(name: BackendName): Promise<void> {
  await BACKENDS[name].stop()
  started.delete(name)
}

function summarise(): void {
  if (suites.length + problems.length === 0) failures.push(`no suite matches ${wanted.join(' ')}`)
  if (skipped.length > 0) console.log(`\nSkipped\n${skipped.map(line => `  ${line}`).join('\n')}`)
  if (retried.length > 0) console.log(`\nTried again\n${retried.map(line => `  ${line}`).join('\n')}`)
  if (failures.length > 0) console.log(`\nFailed\n${failures.map(line => `  ${line}`).join('\n')}`)
  console.log(`\n${skipped.length} skipped, ${process.uptime().toFixed(0)} s`)
  console.log(`${passed} passed, ${failures.length} failed`)
  process.exitCode = failures.length > 0 ? 1 : 0
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
