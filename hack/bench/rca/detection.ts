/** Which incidents labelled faults open, and which the minutes before: records sent through the front door in the order of time, incidents listed in between. */
import { ALL_ANOMALIES } from '../../../dataplane/contract/indices.ts'
import type { Incident } from '../../../dataplane/domain/incidents/incident-fields.ts'
import type { SearchStore } from '../../../dataplane/ports/search-store.ts'
import type { Standalone } from '../../../e2e/testing/standalone-process.ts'
import { formatTable } from '../table.ts'
import { BASELINES, type BaselineKind, createTimelines, MINUTE_MS, type TimedRecord, toRequest } from './fault-timeline.ts'
import type { FaultData, LabelledFault } from './labelled-faults.ts'
import { postJson } from './post-json.ts'

/** Minutes from the injection that are sent at once; then what they made is waited for. What is open at -5 is resolved, as if somebody had looked at it. */
export const RESOLVED_AT = -5
const STEPS = [RESOLVED_AT, -4, -3, -2, -1, 0, 1, 2, 3]
const RECORDS_OF_REQUEST = 1_000
const QUIET_MS = 4_000
const MAX_OPENED = 2

/** The detection of a fault; minutes are counted from the injection. */
export interface DetectedFault {
  readonly fault: LabelledFault
  readonly touched: ReadonlySet<string>
  /** Incidents that are not recurring, by their id, with the minute after which they were seen first. */
  readonly seen: Map<string, { readonly incident: Pick<Incident, 'service'>; readonly minute: number }>
  recurring: number
}

interface Run extends DetectedFault {
  readonly kind: BaselineKind
  readonly tenant: string
  readonly records: readonly TimedRecord[]
  sent: number
}

export async function benchDetection(
  data: FaultData,
  faults: readonly LabelledFault[],
  { collector, ticketing, store }: Pick<Standalone, 'collector' | 'ticketing'> & { readonly store: SearchStore },
  baselines: readonly BaselineKind[] = BASELINES,
): Promise<void> {
  const timelines = createTimelines(data)
  const atMs = Date.now() - 4 * MINUTE_MS
  const runs: Run[] = faults.flatMap(fault =>
    baselines.map(kind => ({
      fault,
      kind,
      tenant: `detect-${kind.replace(' ', '-')}-${fault.file.replace(/\..*$/, '')}`,
      records: timelines.of(fault, kind),
      touched: timelines.touched(fault),
      seen: new Map(),
      recurring: 0,
      sent: 0,
    })),
  )
  for (const minute of STEPS) {
    for (const run of runs) await sendUntil(run, minute, collector, atMs)
    await untilQuiet(store)
    for (const run of runs) await look(run, minute, ticketing)
    if (minute === RESOLVED_AT) {
      // The store's answer about a service's incidents is remembered for a second.
      await new Promise(resolve => setTimeout(resolve, 1_500))
    }
  }
  for (const kind of baselines)
    printDetection(
      kind,
      runs.filter(run => run.kind === kind),
    )
}

async function sendUntil(run: Run, minute: number, collector: string, atMs: number): Promise<void> {
  while (run.sent < run.records.length && run.records[run.sent]!.offsetMs < minute * MINUTE_MS) {
    let to = Math.min(run.sent + RECORDS_OF_REQUEST, run.records.length)
    while (run.records[to - 1]!.offsetMs >= minute * MINUTE_MS) to--
    const body = toRequest(run.records.slice(run.sent, to), run.tenant, atMs)
    await postJson(`${collector}/v1/logs`, body)
    run.sent = to
  }
}

/** Until logs and anomalies have not become more for some time. */
async function untilQuiet(store: SearchStore): Promise<void> {
  const body = { size: 0, track_total_hits: true, query: { match_all: {} } }
  let before = -1
  for (let sinceMs = Date.now(); Date.now() - sinceMs < QUIET_MS; ) {
    await new Promise(resolve => setTimeout(resolve, 500))
    const logs = await store.search({ index: 'service-logs-*', body })
    const anomalies = await store.search({ index: ALL_ANOMALIES, body })
    const now = logs.total + anomalies.total
    if (now !== before) sinceMs = Date.now()
    before = now
  }
}

async function look(run: Run, minute: number, ticketing: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-service-tenant-id': run.tenant }
  const incidents = (await (await fetch(`${ticketing}/api/incidents?limit=1000`, { headers })).json()) as readonly Incident[]
  const open = incidents.filter(({ status }) => status !== 'resolved')
  if (minute === RESOLVED_AT) {
    const body = JSON.stringify({ ids: open.map(({ id }) => id), action: 'resolve' })
    if (open.length > 0) await fetch(`${ticketing}/api/v1/incidents/batch`, { method: 'POST', headers, body })
    return
  }
  run.recurring = open.filter(({ recurring }) => recurring === true).length
  for (const incident of open)
    if (incident.recurring !== true && !run.seen.has(incident.id)) run.seen.set(incident.id, { incident, minute })
}

const BASELINE_NAMES: Readonly<Record<BaselineKind, string>> = {
  recorded: 'recorded minutes',
  'own minute': 'recorded minutes and the minute of its own',
  varied: 'minutes of many hours',
}

const shortName = (service: string) => service.replace(/^ts-|-service$/g, '')

export function printDetection(kind: BaselineKind, runs: readonly DetectedFault[]): void {
  const of = ({ seen }: DetectedFault, when: (minute: number) => boolean) => [...seen.values()].filter(({ minute }) => when(minute))
  const judged = runs.map(run => ({
    run,
    before: of(run, minute => minute <= 0),
    after: of(run, minute => minute > 0),
  }))
  const hits = judged.filter(({ run, after }) => after.some(({ incident }) => run.touched.has(incident.service)))
  const list = (found: ReturnType<typeof of>) =>
    found.map(({ incident, minute }) => `${shortName(incident.service)}${minute > 0 ? ` (${minute}. min)` : ''}`).join(', ') || '–'
  console.log(`\nDetection, ${BASELINE_NAMES[kind]} before: incidents that are not recurring`)
  console.log(
    formatTable(
      ['fault', 'of', 'last 5 minutes before', '3 minutes after', 'on a service that it touches', 'recurring'],
      judged.map(({ run, before, after }) => [
        run.fault.file.slice(0, 8),
        `${run.fault.type} ${shortName(run.fault.service)}`,
        list(before),
        list(after),
        after.some(({ incident }) => incident.service === run.fault.service) ? 'its own' : hits.some(hit => hit.run === run) ? 'yes' : 'no',
        String(run.recurring),
      ]),
    ),
  )
  const quiet = judged.filter(({ before }) => before.length === 0).length
  const few = judged.filter(({ after }) => after.length <= MAX_OPENED).length
  console.log(
    `none before: ${quiet}/${runs.length}; one on a service that the fault touches: ${hits.length}/${runs.length}; at most two: ${few}/${runs.length}`,
  )
}
