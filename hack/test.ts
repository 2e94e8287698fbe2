/**
 * `npm test`: static checks, unit tests, end-to-end tests. The last line is `N passed, N failed`; a check counts as one.
 * `--static` runs the checks alone, `--long` (`npm run test:long`) the suites `*.long.ts` alone; other arguments pick the jobs with one of them in their name or in that of a file.
 */
import { availableParallelism, cpus } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exitOnSignals } from './testing/exit-on-signals.ts'
import { idleShare } from './testing/idle-cores.ts'
import { findLongSuites, findTestGroups, type Job, STATIC_CHECKS } from './testing/jobs.ts'
import { makeMemoryDisk } from './testing/memory-disk.ts'
import { type JobResult, runJob } from './testing/run-job.ts'

const SLOWEST_SHOWN = 10
const SLOW_MS = 500
const WAITING_AT_ONCE = 2
const LOOK_AT_CORES_MS = 1_000
/** A job more has room where so much of the cores' time between two looks is idle. */
const ROOM_SHARE = 0.25
const MAX_MORE_JOBS = 4
/** More groups than these do not fail because the machine was busy. */
const MAX_TRIED_AGAIN = 4

process.chdir(resolve(import.meta.dirname, '..'))
// Jobs end with this process.
exitOnSignals()
// A hundred test processes load the same modules: the first compiles them for all.
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/node-compile')
const args = process.argv.slice(2)
const wanted = args.filter(arg => !arg.startsWith('--'))
const isWanted = (job: Job) => wanted.length === 0 || wanted.some(part => namesOf(job).some(name => name.includes(part)))
const jobs = findJobs()

const isAlone = (job: Job) => job.kind === 'tests' && job.runsAlone === true
const isWaiting = (job: Job) => job.kind === 'tests' && job.waits === true
const isOnDisk = (job: Job) => job.kind === 'tests' && job.isOnDisk === true
const waiting = jobs.filter(job => isWaiting(job) && !isAlone(job))
const computing = jobs.filter(job => !isWaiting(job) && !isAlone(job))
/** Whole products write to the disk that users have. */
const memoryDisk = makeMemoryDisk()
const unitEnvironment: Readonly<Record<string, string>> = memoryDisk === undefined ? {} : { TMPDIR: memoryDisk }
const results: JobResult[] = []
const retried: string[] = []
// Jobs that compute, one for each core, fill the time in which those beside them wait.
await Promise.all([
  ...Array.from({ length: WAITING_AT_ONCE }, () => runQueue(waiting)),
  ...Array.from({ length: availableParallelism() }, () => runQueue(computing).then(() => runQueue(waiting))),
  fillIdleCores(),
])
await runQueue(jobs.filter(isAlone))
await tryAgainAlone()
summarise()

function findJobs(): readonly Job[] {
  if (args.includes('--long')) return findLongSuites().filter(isWanted)
  const checks = STATIC_CHECKS.filter(isWanted)
  return args.includes('--static') ? checks : [...checks, ...findTestGroups(isWanted)]
}

function namesOf(job: Job): readonly string[] {
  return job.kind === 'tests' ? [job.name, ...job.files] : [job.name]
}

async function runQueue(waiting: Job[]): Promise<void> {
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await run(job)
}

async function run(job: Job): Promise<void> {
  const result = await runJob(job, isOnDisk(job) ? {} : unitEnvironment)
  results.push(result)
  show(result)
}

/** Jobs that wait, and at last those that compute, beside the others as long as these leave cores idle. A machine that is busy with others gets none. */
async function fillIdleCores(): Promise<void> {
  const running = new Set<Promise<void>>()
  for (let before = cpus(), now = before; waiting.length + computing.length > 0; before = now) {
    await pause(LOOK_AT_CORES_MS)
    now = cpus()
    if (idleShare(before, now) < ROOM_SHARE || running.size >= MAX_MORE_JOBS) continue
    const job = waiting.shift() ?? computing.shift()
    if (job === undefined) break
    const done = run(job).finally(() => running.delete(done))
    running.add(done)
  }
  await Promise.all(running)
}

/** Tests of whole processes fail now and then beside others on a busy machine: a few groups may try once more, alone, and that shows. */
async function tryAgainAlone(): Promise<void> {
  const failed = results.filter(({ name, failures }) => failures.length > 0 && jobs.some(job => job.name === name && job.kind === 'tests'))
  if (failed.length > MAX_TRIED_AGAIN) return
  for (const result of failed) {
    results.splice(results.indexOf(result), 1)
    retried.push(...result.failures.map(({ title }) => title))
  }
  await runQueue(jobs.filter(({ name }) => failed.some(result => result.name === name)))
}

function show({ name, ms, cpuMs, passed, failures, skipped }: JobResult): void {
  const counts = `${passed} passed${failures.length > 0 ? `, ${failures.length} failed` : ''}${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`
  const times = `${seconds(ms)}${cpuMs === undefined ? '' : `, CPU ${seconds(cpuMs)}`}`
  console.log(`${failures.length > 0 ? 'FAIL' : 'ok  '}  ${name.padEnd(44)} ${counts} (${times})`)
  for (const title of skipped) console.log(`      skipped: ${title}`)
  for (const { title, error } of failures) console.log(`\n      ${title}\n${error.replace(/^/gm, '        ')}\n`)
}

function summarise(): void {
  const slowest = results.flatMap(result => result.durations).filter(test => test.ms >= SLOW_MS)
  slowest.sort((a, b) => b.ms - a.ms)
  if (slowest.length > 0) console.log('\nSlowest tests')
  for (const { title, ms } of slowest.slice(0, SLOWEST_SHOWN)) console.log(`  ${seconds(ms).padStart(8)}  ${title}`)
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failures = results.flatMap(result => result.failures)
  if (retried.length > 0) console.log(`\nTried again, alone\n${retried.map(title => `  ${title}`).join('\n')}`)
  if (jobs.length === 0) failures.push({ title: `no check or test matches ${wanted.join(' ')}`, error: '' })
  if (failures.length > 0) console.log('\nFailed')
  for (const { title } of failures) console.log(`  ${title}`)
  const skipped = results.reduce((sum, result) => sum + result.skipped.length, 0)
  const cpuMs = results.reduce((sum, result) => sum + (result.cpuMs ?? 0), 0)
  console.log(`\n${skipped} skipped, ${process.uptime().toFixed(0)} s${cpuMs === 0 ? '' : `, CPU ${(cpuMs / 1000).toFixed(0)} s`}`)
  console.log(`${passed} passed, ${failures.length} failed`)
  process.exitCode = failures.length > 0 || passed === 0 ? 1 : 0
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
