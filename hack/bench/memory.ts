/**
 * Memory of a standalone and of its query process while records come in and until they are searchable, or for as long as it is waited for that, by what it
 * is made of. `hack/node hack/bench/memory.ts --help` says how to call it.
 * Resident memory is told as a sum of processes, which counts the pages of Node's program for each of them, and with such pages counted once.
 */
import { parseArgs } from 'node:util'
import { cpuSeconds, family, type MemoryByKind, memoryByKind } from './process-usage.ts'
import { startStandaloneSubject } from './standalone-subject.ts'
import type { Subject } from './subject.ts'
import { sendLoad } from './throughput.ts'

const USAGE = `hack/node hack/bench/memory.ts [options]

  --rate N        records a second; 0: as many as it takes (default 5000)
  --seconds N     how long (default 55)
  --wait N        seconds after the load in which the records may become searchable (default 300)
  --checkout DIR  another version of the product`

const RECORDS_PER_REQUEST = 100
const LOOK_EVERY_MS = 1_000
const COUNT_EVERY_MS = 500

interface Look {
  readonly second: number
  /** The main process first. */
  readonly processes: readonly MemoryByKind[]
}

async function measure(rate: number, durationMs: number, waitMs: number, checkout: string | undefined): Promise<void> {
  const subject = await startStandaloneSubject({}, checkout === undefined ? {} : { checkout })
  try {
    const target = subject.target('http-protobuf')
    if (target === undefined) throw new Error('a standalone takes protobuf over HTTP')
    const cpuBefore = cpuSeconds(subject.pid)
    const limits = { durationMs, ...(rate > 0 && { recordsPerSecond: rate }) }
    const load = sendLoad(target, RECORDS_PER_REQUEST, limits)
    const settled = load.then(({ recordsAccepted }) => untilFound(subject, recordsAccepted, waitMs))
    const looks = await lookUntil(settled, subject.pid)
    const { recordsAccepted, seconds } = await load
    const cpu = cpuSeconds(subject.pid) - cpuBefore
    print(looks)
    console.log(`${Math.round(recordsAccepted / seconds)} records a second; CPU ${((cpu / recordsAccepted) * 1e6).toFixed(1)} µs a record`)
    const { found, waitedMs } = await settled
    const share = ((100 * found) / recordsAccepted).toFixed(1)
    console.log(
      `${recordsAccepted} records accepted, ${found} of them (${share} %) searchable ${Math.round(waitedMs / 1000)} s after the load`,
    )
  } finally {
    await subject.remove()
  }
}

interface Settled {
  readonly found: number
  readonly waitedMs: number
}

/** Resolves once all `expected` records are found, or with what is found when the time is over. A search that fails is tried again: the store is busy. */
async function untilFound(subject: Subject, expected: number, waitMs: number): Promise<Settled> {
  const started = performance.now()
  let found = 0
  for (;;) {
    found = await subject.count().catch(() => found)
    const waitedMs = performance.now() - started
    if (found >= expected || waitedMs > waitMs) return { found, waitedMs }
    await new Promise(resolve => setTimeout(resolve, COUNT_EVERY_MS))
  }
}

async function lookUntil(end: Promise<unknown>, pid: number): Promise<readonly Look[]> {
  const looks: Look[] = []
  const started = performance.now()
  let isOver = false
  const over = end.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([over, new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))])
    looks.push({ second: Math.round((performance.now() - started) / 1000), processes: family(pid).map(memoryByKind) })
  }
  return looks
}

const sum = (figures: readonly number[]): number => figures.reduce((total, each) => total + each, 0)
const residentOf = ({ processes }: Look): number => sum(processes.map(({ residentMb }) => residentMb))
/** Pages of files count for the main process alone. */
const onceOf = (look: Look): number => residentOf(look) - sum(look.processes.slice(1).map(({ filesMb }) => filesMb))

function print(looks: readonly Look[]): void {
  for (const { second, processes } of looks) console.log(second, ...processes.map(({ residentMb }) => Math.round(residentMb)))
  const figures: readonly (readonly [string, (look: Look) => number])[] = [
    ['RSS of all processes', residentOf],
    ['pages of files counted once', onceOf],
  ]
  for (const [name, of] of figures) {
    const all = looks.map(of)
    console.log(`${name}: peak ${Math.round(Math.max(...all))} MB, mean ${Math.round(sum(all) / all.length)}`)
  }
  const highest = looks.toSorted((a, b) => residentOf(b) - residentOf(a))[0]
  for (const process of highest?.processes ?? []) console.log('at the peak, MB:', process)
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '55' },
    wait: { type: 'string', default: '300' },
    checkout: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else await measure(Number(values.rate), Number(values.seconds) * 1000, Number(values.wait) * 1000, values.checkout)
