/** The labelled faults seen otherwise, and faults made up in fault-free records: how well the rules do on what they were not made with. No server is needed. */
import { findRootCause } from '../../../dataplane/domain/root-cause/find-root-cause.ts'
import type { Observation } from '../../../dataplane/domain/root-cause/observed/observation.ts'
import { runInTurns } from '../../../dataplane/limits/run-in-turns.ts'
import { buildSynthetic, SYNTHETIC_KINDS, TRACINGS } from '../../../dataplane/testing/synthetic-systems.ts'
import { Random } from '../random.ts'
import { formatTable } from '../table.ts'
import { createFaultReader, MINUTE_MS } from './fault-observations.ts'
import type { FaultData, LabelledFault } from './labelled-faults.ts'

type Records = readonly Observation[]
type Change = (records: Records, atMs: number, fault: LabelledFault) => Records

const windowOf =
  (minutes: number): Change =>
  (records, atMs) =>
    records.filter(({ timeMs }) => timeMs < atMs + minutes * MINUTE_MS)
const baselineOf =
  (minutes: number): Change =>
  (records, atMs) =>
    records.filter(({ timeMs }) => timeMs >= atMs - minutes * MINUTE_MS)
/** Whole traces. */
const sampleOf =
  (share: number): Change =>
  records =>
    records.filter(({ traceId, logId }) => hashOf(traceId || logId) < share)
/** Records of a share of the traces keep their ids; all other records stay, without ids. */
const tracedShare =
  (share: number): Change =>
  records =>
    records.map(each => (hashOf(each.traceId) < share ? each : { ...each, traceId: '', spanId: '' }))
/** Records without a third of the services, the fault's own excepted. */
const fewerServices: Change = (records, _, { service }) => records.filter(each => each.service === service || hashOf(each.service) > 1 / 3)

const VARIANTS: Readonly<Record<string, Change>> = {
  'as they are': records => records,
  'baseline of 5 minutes': baselineOf(5),
  'baseline of 3 minutes': baselineOf(3),
  'baseline of 1 minute': baselineOf(1),
  'window of 2 minutes': windowOf(2),
  'window of 1 minute': windowOf(1),
  'window of half a minute': windowOf(0.5),
  'half of the traces': sampleOf(0.5),
  'a quarter of the traces': sampleOf(0.25),
  'a tenth of the traces': sampleOf(0.1),
  'trace ids on a quarter of the requests': tracedShare(0.25),
  'trace ids on a quarter, baseline of 3 minutes': (records, atMs, fault) =>
    tracedShare(0.25)(baselineOf(3)(records, atMs, fault), atMs, fault),
  'a third of the services left out': fewerServices,
  'no span ids': records => records.map(each => ({ ...each, spanId: '' })),
  'no trace ids': records => records.map(each => ({ ...each, traceId: '', spanId: '' })),
}

/** The work of a fault on the records of a trace in the order of time; `service` is where it is. */
type Injection = (trace: Records, service: string) => Records

const INJECTIONS: Readonly<Record<string, Injection>> = {
  'exception that nobody logs': (trace, service) => {
    const first = trace.findIndex(each => each.service === service)
    const span = trace[first]!.spanId
    return trace.filter((each, at) => at <= first || each.spanId !== span || each.service !== service)
  },
  'errors after the first line': (trace, service) =>
    trace.flatMap((each, at) =>
      at === trace.findIndex(other => other.service === service)
        ? [
            each,
            {
              ...each,
              timeMs: each.timeMs + 1,
              template: 'injected',
              pattern: 'injected',
              patternId: 'injected',
              isError: true,
              logId: `${each.logId} e`,
            },
          ]
        : [each],
    ),
  silence: (trace, service) => trace.filter(each => each.service !== service),
  'slow by 300 ms': (trace, service) => {
    let late = 0
    return trace.map((each, at) => {
      if (at > 0 && trace[at - 1]!.service === service) late += 300
      return { ...each, timeMs: each.timeMs + late }
    })
  },
}
/** A service has to be in so many traces of a fault-free window for a fault in it to be seen. */
const MIN_TRACES = 8
const MAX_SERVICES = 6

export async function measureVariants(data: FaultData): Promise<void> {
  const rows: (readonly string[])[] = []
  for (const withoutSites of [false, true]) {
    const reader = createFaultReader(data, { withoutSites })
    for (const [name, change] of Object.entries(VARIANTS)) {
      const ranks: number[] = []
      for (const fault of data.faults) {
        const records = windowOf(3)(reader.withBaseline(fault), fault.injectedAtMs, fault)
        ranks.push(await rankOf(change(records, fault.injectedAtMs, fault), fault.injectedAtMs, fault.service))
      }
      rows.push([`${name}${withoutSites ? ', no call sites' : ''}`, within(ranks)])
    }
    for (const [at, day] of data.normal.entries()) {
      const ranks: number[] = []
      for (const fault of data.faults)
        ranks.push(
          await rankOf(windowOf(3)(reader.withBaseline(fault, 15, [day]), fault.injectedAtMs, fault), fault.injectedAtMs, fault.service),
        )
      rows.push([`baseline of day ${at + 1} alone${withoutSites ? ', no call sites' : ''}`, within(ranks)])
    }
  }
  console.log(`\n${formatTable(['labelled faults', 'A@1, A@3, A@5'], rows)}`)

  const reader = createFaultReader(data)
  const injected = new Map<string, number[]>()
  for (const fault of data.faults) {
    // The last minute before the injection is the window.
    const atMs = fault.injectedAtMs - 45_000
    const records = reader.withBaseline(fault).filter(({ timeMs }) => timeMs < fault.injectedAtMs)
    const calm = records.filter(({ timeMs }) => timeMs < atMs)
    const traces = [
      ...Map.groupBy(
        records.filter(({ timeMs }) => timeMs >= atMs).toSorted((a, b) => a.timeMs - b.timeMs),
        ({ traceId }) => traceId,
      ).values(),
    ]
    for (const service of someServices(traces))
      for (const [name, inject] of Object.entries(INJECTIONS)) {
        const changed = traces.flatMap(trace => (trace.some(each => each.service === service) ? inject(trace, service) : trace))
        // A service with one record a visit has none that an exception would leave out: nothing is wrong then.
        if (isUnchanged(traces, changed)) continue
        const ranks = injected.get(name) ?? []
        injected.set(name, [...ranks, await rankOf([...calm, ...changed], atMs, service)])
      }
  }
  console.log(
    `\n${formatTable(
      ['injected into 45 fault-free seconds', 'A@1, A@3, A@5'],
      [...injected].map(([name, ranks]) => [name, within(ranks)]),
    )}`,
  )
}

/** Systems made up from seeds: see dataplane/testing/synthetic-systems.ts. */
export async function measureSynthetic(seeds: number): Promise<void> {
  const rows: string[][] = []
  const all = TRACINGS.map((): number[] => [])
  for (const kind of Object.keys(SYNTHETIC_KINDS)) {
    const row = [kind]
    for (const [at, tracing] of TRACINGS.entries()) {
      const ranks: number[] = []
      for (let seed = 1; seed <= seeds; seed++) {
        const made = buildSynthetic(kind, tracing, seed)
        if (made !== undefined) ranks.push(await rankOf(made.observations, made.atMs, made.culprit))
      }
      all[at]!.push(...ranks)
      row.push(ranks.length === 0 ? '' : within(ranks))
    }
    rows.push(row)
  }
  rows.push(['all', ...all.map(within)])
  console.log(`\n${formatTable([`${seeds} systems of each kind`, 'spans', 'traces', 'no traces', 'a trace for each record'], rows)}`)
}

async function rankOf(observations: Records, atMs: number, service: string): Promise<number> {
  const { candidates } = await runInTurns(findRootCause({ observations, atMs }))
  return candidates.findIndex(candidate => candidate.service === service) + 1 || Number.POSITIVE_INFINITY
}

function within(ranks: readonly number[]): string {
  return [1, 3, 5].map(k => `${ranks.filter(rank => rank <= k).length}/${ranks.length}`).join(', ')
}

const isUnchanged = (traces: readonly Records[], changed: Records): boolean => {
  const before = traces.flat()
  return before.length === changed.length && before.every((each, at) => each.timeMs === changed[at]!.timeMs)
}

function someServices(traces: readonly Records[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const trace of traces)
    for (const service of new Set(trace.map(each => each.service))) counts.set(service, (counts.get(service) ?? 0) + 1)
  const often = [...counts].flatMap(([service, count]) => (count >= MIN_TRACES ? [service] : []))
  return often.toSorted((a, b) => hashOf(a) - hashOf(b)).slice(0, MAX_SERVICES)
}

/** 0 to 1, the same for the same text. */
function hashOf(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0
  return new Random(sum).uint32() / 2 ** 32
}
