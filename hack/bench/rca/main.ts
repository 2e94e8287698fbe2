/** `npm run bench:rca`: how often the analysis of labelled faults names the right service. Prints tables for hack/bench/results.md. */
import { parseArgs } from 'node:util'
import { createSearchStore } from '../../../dataplane/adapters/search/search-store.ts'
import { DETECTOR_NAMES, type Detector, findRootCause } from '../../../dataplane/domain/root-cause/find-root-cause.ts'
import type { RootCause } from '../../../dataplane/domain/root-cause/root-cause.ts'
import { runInTurns } from '../../../dataplane/limits/run-in-turns.ts'
import type { Analysis } from '../../../dataplane/pipeline/root-cause/analyse.ts'
import { readObservations } from '../../../dataplane/pipeline/root-cause/read-observations.ts'
import type { SearchStore } from '../../../dataplane/ports/search-store.ts'
import { type Standalone, startStandalone } from '../../../e2e/testing/standalone-process.ts'
import { fillStore } from '../fill-store.ts'
import { describeMachine } from '../machine.ts'
import { formatTable } from '../table.ts'
import { measureAnalyze } from './analyze-time.ts'
import { measureBenign } from './benign.ts'
import { benchDetection } from './detection.ts'
import { measureDetection } from './detection-in-process.ts'
import { type LabelledFault, openFaultData } from './labelled-faults.ts'
import { measureOutages } from './outages.ts'
import { postJson } from './post-json.ts'
import { type Replay, replayFault } from './replay-fault.ts'
import { measureSynthetic, measureVariants } from './variants.ts'

const USAGE = `Usage: npm run bench:rca -- --data FOLDER [options]

  --data FOLDER   labelled logs: labels.json, fault-*.ndjson.gz, normal-*.ndjson.gz (default: RCA_DATA)
  --only LIST     of the faults, such as fault-01,fault-25 (default: all)
  --cause         root cause alone, through the front door; no detection
  --analyze       no faults: how long the answers of analyze take
  --stored N      with --analyze: N records of one tenant, over the day before, are in the store as well
  --detection     without servers: detection alone, in one process
  --variants      without servers: the faults with less to go by, faults made up in fault-free records
  --synthetic N   without servers and data: N small systems of each kind of fault, made up from seeds
  --outages N     without servers and data: outages as companies know them, N systems of each
  --benign N      without servers and data: thirty hours of N systems that are well, and outages put in between
  --first-seed N  with --outages or --benign: other systems (default: 1)
  --list          with --benign: each incident
  --hours N       with --benign: so many hours (default: 30)
  --restarts N    with --benign: the bridge starts anew every N hours, with habits kept and forgotten; no outages

Starts a standalone on a temporary directory, sends each fault with fifteen fault-free minutes before it to the collector as a tenant of its own, asks
POST /api/v1/analyze at the time of the injection, and prints A@1, A@3, A@5: the share of faults whose service is among the first 1, 3, 5 candidates.
Then sends each fault again in the order of time, and prints the incidents that the fault opens and those of the minutes before.`

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: process.env['RCA_DATA'] ?? '' },
    only: { type: 'string', default: '' },
    cause: { type: 'boolean', default: false },
    analyze: { type: 'boolean', default: false },
    stored: { type: 'string', default: '0' },
    detection: { type: 'boolean', default: false },
    variants: { type: 'boolean', default: false },
    synthetic: { type: 'string', default: '' },
    outages: { type: 'string', default: '' },
    benign: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    hours: { type: 'string', default: '30' },
    restarts: { type: 'string' },
    'first-seed': { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) console.log(USAGE)
else
  await main().catch(error => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })

interface Result {
  readonly fault: LabelledFault
  readonly answer: Analysis
  readonly tookMs: number
  /** Place of the fault's service among the candidates by who ranked them; Infinity: not among them. */
  readonly ranks: Readonly<Record<'fused' | Detector, number>>
}

async function main(): Promise<void> {
  if (values.synthetic !== '') return measureSynthetic(Number(values.synthetic))
  if (values.outages !== '') return measureOutages(Number(values.outages), Number(values['first-seed']))
  if (values.benign !== '') return benchBenign()
  if (values.analyze) return benchAnalyze()
  if (values.data === '') throw new Error('no data: name the folder of the labelled logs with --data or RCA_DATA (--help says more)')
  const data = openFaultData(values.data)
  if (values.variants) return measureVariants(data)
  const only = values.only.split(',').filter(name => name !== '')
  const faults = data.faults.filter(({ file }) => only.length === 0 || only.some(name => file.startsWith(name)))
  if (values.detection) return measureDetection(data, faults)
  console.log(
    Object.entries(describeMachine(['dataplane']))
      .map(([name, value]) => `${name}: ${value}`)
      .join(', '),
  )
  await withStandalone(async (standalone, store) => {
    const replays: { readonly fault: LabelledFault; readonly replay: Replay }[] = []
    for (const fault of faults) replays.push({ fault, replay: await replayFault(data, fault, standalone.collector, Date.now()) })
    for (const { replay } of replays) await untilStored(store, replay)
    const results: Result[] = []
    for (const { fault, replay } of replays) results.push(await measure(store, standalone.ticketing, fault, replay))
    print(results)
    if (!values.cause) await benchDetection(data, faults, { ...standalone, store })
  })
}

/** Ends the standalone however the work ends, by a signal as well, also while it starts. */
async function withStandalone(work: (standalone: Standalone, store: SearchStore) => Promise<void>): Promise<void> {
  const ended = new AbortController()
  const starting = startStandalone({}, { signal: ended.signal })
  const stop = async () => {
    ended.abort()
    // One that did not start has left nothing.
    const standalone = await starting.catch(() => undefined)
    await standalone?.remove()
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().finally(() => process.exit(1)))
  const standalone = await starting
  const store = createSearchStore({ endpoint: standalone.search })
  try {
    await work(standalone, store)
  } finally {
    await store.close()
    await stop()
  }
}

function benchBenign(): void {
  const { benign, hours, list: isVerbose, restarts, 'first-seed': first } = values
  measureBenign({
    ...{ lives: Number(benign), first: Number(first), isVerbose, hours: Number(hours) },
    ...(restarts !== undefined && { restartHours: Number(restarts) }),
  })
}

async function benchAnalyze(): Promise<void> {
  const filled = { records: Number(values.stored), endMs: Date.now() }
  await withStandalone(async (standalone, store) => {
    if (filled.records > 0) await fillStore(standalone.search, filled.records, filled.endMs)
    await measureAnalyze(standalone, (tenant, records) => untilStored(store, { tenant, records }), filled.records > 0 ? filled : undefined)
  })
}

async function untilStored(store: SearchStore, { tenant, records }: Pick<Replay, 'tenant' | 'records'>): Promise<void> {
  const body = { size: 0, track_total_hits: true, query: { term: { tenant_id: tenant } } }
  for (let seen = -1, unchanged = 0; unchanged < 20; ) {
    const { total } = await store.search({ index: 'service-logs-*', body })
    if (total >= records) return
    // Records that are equal in all are one document.
    unchanged = total === seen ? unchanged + 1 : 0
    seen = total
    await new Promise(resolve => setTimeout(resolve, 500))
  }
}

async function measure(store: SearchStore, ticketing: string, fault: LabelledFault, { tenant, atMs }: Replay): Promise<Result> {
  const startedMs = performance.now()
  const text = await postJson(`${ticketing}/api/v1/analyze`, JSON.stringify({ at: new Date(atMs).toISOString() }), {
    headers: { 'x-service-tenant-id': tenant },
  })
  const answer = JSON.parse(text) as Analysis
  const tookMs = performance.now() - startedMs
  const rankIn = ({ candidates }: RootCause) =>
    candidates.findIndex(({ service }) => service === fault.service) + 1 || Number.POSITIVE_INFINITY
  const ranks: Record<string, number> = { fused: rankIn(answer.rootCause) }
  const period = { tenant, atMs, fromMs: Date.parse(answer.baseline.from), toMs: Date.parse(answer.window.to) }
  const observations = await readObservations(store, period)
  for (const detector of DETECTOR_NAMES)
    ranks[detector] = rankIn(await runInTurns(findRootCause({ observations, atMs, detectors: [detector] })))
  return { fault, answer, tookMs, ranks: ranks as Result['ranks'] }
}

function print(results: readonly Result[]): void {
  const types = [...new Set(results.map(({ fault }) => fault.type))]
  const within = (some: readonly Result[], by: 'fused' | Detector) =>
    [1, 3, 5].map(k => `${some.filter(({ ranks }) => ranks[by] <= k).length}/${some.length}`).join(', ')
  const rows = (['fused', ...DETECTOR_NAMES] as const).map(by => [
    by,
    ...types.map(type =>
      within(
        results.filter(({ fault }) => fault.type === type),
        by,
      ),
    ),
    within(results, by),
  ])
  console.log(`\n${formatTable(['A@1, A@3, A@5', ...types, 'all'], rows)}`)
  const misses = results.filter(({ ranks }) => ranks.fused > 1)
  console.log(`\nNot first (${misses.length}):`)
  for (const { fault, answer, ranks } of misses)
    console.log(
      `- ${fault.file} (${fault.type} in ${fault.service}): ${Number.isFinite(ranks.fused) ? `place ${ranks.fused}` : 'not among five'}; first ${answer.rootCause.candidates[0]?.service ?? 'none'}`,
    )
  const times = results.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  console.log(`\nanalyze: median ${Math.round(times[Math.floor(times.length / 2)]!)} ms, longest ${Math.round(times.at(-1)!)} ms`)
}
