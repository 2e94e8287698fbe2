/** Requests of the bridge's indexer and lifecycle to the search store: templates, bulks, aliases, incidents under concurrency, retention. */
import type { KeptHabits } from '../../../domain/anomalies/signals/habits.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import { createHabitKeeper, type HabitKeeper } from '../../../pipeline/sinks/habit-keeper.ts'
import { deleteExpiredAnomalies } from '../../../pipeline/sinks/retention/anomaly-retention.ts'
import { dropExpiredLogs, listLogDays } from '../../../pipeline/sinks/retention/log-retention.ts'
import { createDetector } from '../../../pipeline/steps/detect.ts'
import { createEtl } from '../../../pipeline/steps/flatten/etl.ts'
import type { BusRecord, ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { createDocumentWriter } from '../../../roles/bridge/threads/document-writer.ts'
import { createIndexerWork } from '../../../roles/bridge/threads/indexer.ts'
import { createLifecycleWork, openTenantRooms } from '../../../roles/bridge/threads/lifecycle.ts'
import type { ThreadDeps } from '../../../roles/bridge/threads/thread-deps.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import type { RecordedStore } from './recorded-store.ts'

/** Nothing else is of that day, and no other suite has records of a day before it. */
const NOW_MS = Date.UTC(2001, 4, 6, 12)
const TENANT = 'product-use'
const TOPICS = { RAW_TOPIC: 'raw', ENRICHED_TOPIC: 'enriched', ANOMALY_TOPIC: 'anomaly', DEAD_LETTER_TOPIC: 'dead' }
const INCIDENTS = `service-incidents-${TENANT}`

interface Given {
  readonly service: string
  readonly text: string
  readonly severity: string
  readonly atMs: number
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** As they stand on `enriched-logs`, and the anomalies among them as on `anomaly-events`. */
function consumed(records: readonly Given[]): { readonly logs: readonly ConsumedRecord[]; readonly anomalies: readonly ConsumedRecord[] } {
  const etl = createEtl({ defaultTenant: TENANT, retentionDays: 30, lookupFeatures: () => undefined })
  const detector = createDetector({ anomalyThreshold: 2.5, windowSize: 50 })
  const flat = records.flatMap(({ service, text, severity, atMs, attributes = {} }) => {
    const pairs = Object.entries(attributes).map(([key, value]) => ({ key, value }))
    const record = { timeUnixNano: `${atMs}000000`, severityText: severity, body: { stringValue: text }, attributes: pairs }
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
    const message = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] }
    return etl.process(Buffer.from(JSON.stringify(message)), NOW_MS).records
  })
  const take = (topic: string, { key, value, headers }: BusRecord, offset: number): ConsumedRecord => ({
    topic,
    partition: 0,
    offset,
    timestampMs: NOW_MS,
    key,
    value,
    headers: headers ?? {},
  })
  const logs = flat.map((record, offset) => take(TOPICS.ENRICHED_TOPIC, record, offset))
  const events = logs.flatMap(log => {
    const outcome = detector.process(log)
    return outcome.kind === 'emit' ? [outcome.value.event] : []
  })
  return { logs, anomalies: events.map((event, offset) => take(TOPICS.ANOMALY_TOPIC, event, offset)) }
}

const failing = (count: number, atMs: number, service = 'cart'): readonly Given[] =>
  Array.from({ length: count }, (_, i) => ({
    service,
    text: `connection refused by 10.0.0.${i}`,
    severity: 'ERROR',
    atMs: atMs + i * 1_000,
  }))

/** Attributes of every kind, conflicts between them, and texts that no term holds. */
const VARIED: readonly Given[] = [
  { 'user.id': { stringValue: '7' }, tries: { intValue: '3' }, ratio: { doubleValue: 0.5 }, ok: { boolValue: true } },
  { tries: { stringValue: 'many' }, 'user.id.kind': { stringValue: 'x' }, 'service.version': { stringValue: '1.0' } },
  { duration_ms: { stringValue: 'slow' }, tags: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
  { stack: { stringValue: 'at main '.repeat(6_000) }, tries: { boolValue: true } },
  { ['k'.repeat(600)]: { stringValue: 'long key' }, 'a..b': { stringValue: 'empty segment' }, _id: { stringValue: 'metadata' } },
  { ['k'.repeat(33_000)]: { stringValue: 'key longer than a term' }, ['€'.repeat(11_000)]: { boolValue: true } },
  { ['k'.repeat(20_000)]: { stringValue: 'long key and text '.repeat(1_000) }, ['n'.repeat(9_000)]: { stringValue: '€'.repeat(8_000) } },
  {
    list: {
      arrayValue: { values: [{ kvlistValue: { values: [{ key: 'k'.repeat(33_000), value: { stringValue: 'long key in a list' } }] } }] },
    },
  },
].map((attributes, i) => ({ service: 'cart', text: `varied ${i}`, severity: 'INFO', atMs: NOW_MS - 60_000 + i, attributes }))

export async function useAsBridge(recorded: RecordedStore): Promise<unknown> {
  const { store } = recorded
  const clock = createFakeClock(NOW_MS)
  const bus = createRecordingBus()
  const deps: ThreadDeps = {
    settings: {
      ...TOPICS,
      RETENTION_DAYS: 30,
      ANOMALY_THRESHOLD: 2.5,
      WINDOW_SIZE: 50,
      LOG_LEVEL: 'info',
      SEARCH_ENDPOINT: 'http://nowhere',
      SEARCH_USERNAME: undefined,
      SEARCH_PASSWORD: undefined,
      SEARCH_CA_FILE: undefined,
      SEARCH_SHARDS: undefined,
      SEARCH_REPLICAS: undefined,
      ONLINE_STORE_URL: undefined,
      ONLINE_STORE_USERNAME: undefined,
      ONLINE_STORE_PASSWORD: undefined,
      DATA_DIR: '',
      DEFAULT_TENANT: TENANT,
    },
    bus,
    config: { read: () => ({ anomalyThreshold: 2.5, windowSize: 50 }) } as unknown as ThreadDeps['config'],
    count: () => {},
    log: SILENT,
    clock,
    signal: new AbortController().signal,
  }
  const start = async (create: (deps: ThreadDeps, store: SearchStore) => Work) => {
    const work = create(deps, store)
    await work.prepare?.()
    await store.refresh(INCIDENTS)
    return work
  }
  const createIndexer = (deps: ThreadDeps, store: SearchStore) => createIndexerWork(deps, createDocumentWriter({ ...deps, store }))
  const indexer = await start(createIndexer)
  await untilAnswered(recorded, '"listIndices"')
  const first = consumed([...VARIED, ...failing(4, NOW_MS - 50_000)])
  await indexer.handle(first.logs, bus)
  await untilAnswered(recorded, '"putAliases"')
  // OpenSearch shows what was written a second later.
  await store.refresh('service-logs-*')
  await start(createIndexer)
  await untilAnswered(recorded, '"buckets"')
  // Again, but for those that are refused: OpenSearch looks at the mapping first, the embedded store at the id.
  await indexer.handle([...first.anomalies, ...first.logs.slice(VARIED.length)], bus)

  const lifecycle = await start(createLifecycleWork)
  await lifecycle.handle(first.anomalies, bus)
  await store.refresh(INCIDENTS)
  clock.advance(2_000)
  const second = consumed([...failing(2, NOW_MS - 20_000), ...failing(3, NOW_MS - 10_000, 'payment')])
  await lifecycle.handle(second.anomalies, bus)

  // After a restart, with all of it again: nothing counts twice.
  const restarted = await start(createLifecycleWork)
  await restarted.memory?.restore(first.anomalies)
  await restarted.handle([...first.anomalies, ...second.anomalies], bus)
  await store.refresh(INCIDENTS)
  const { hits } = await store.search<{ service: string }>({ index: INCIDENTS, body: { sort: [{ service: 'asc' }] } })
  // A count that a crash left wrong is mended from the anomaly documents.
  const [wrong] = hits
  await store.put(INCIDENTS, wrong!.id, { ...wrong!.source, anomalyCount: 99 }, wrong)
  await (await start(createLifecycleWork)).handle(first.anomalies, bus)
  // Resolved by hand: the next anomalies open another one.
  for (const { id } of hits) {
    const open = (await store.get<object>(INCIDENTS, id))!
    await store.put(INCIDENTS, id, { ...open.source, status: 'resolved' }, open)
  }
  await store.refresh(INCIDENTS)
  clock.advance(2_000)
  await restarted.handle(consumed(failing(3, NOW_MS - 5_000)).anomalies, bus)

  // A tenant whose indices did not work for a while: its anomaly waits in the default tenant's index.
  const rooms = openTenantRooms(deps, store)
  const waiting = await start((deps, store) => createLifecycleWork(deps, store, rooms))
  rooms.close([TENANT])
  await waiting.handle(consumed(failing(1, NOW_MS - 4_000, 'waiting')).anomalies, bus)
  clock.advance(61_000)
  await waiting.idle?.()
  // Aliases are looked after now and then.
  await indexer.handle(first.logs.slice(VARIED.length), bus)
  await untilAnswered(recorded, `"service-logs-2001.05.06","service-logs-${TENANT}"`)

  const old = { id: 'old', timestamp: '2000-01-01T00:00:00.000Z', tenant_id: TENANT }
  await store.put(`service-anomalies-${TENANT}`, old.id, old)
  await store.refresh(`service-anomalies-${TENANT}`)
  const expired = await deleteExpiredAnomalies({ store, clock: { nowMs: clock.nowMs, sleep: async () => {} }, signal: deps.signal }, 30)

  for (const day of ['2000.01.01', '2000.02.30', '2001.04.05']) await store.put(`service-logs-${day}`, '1', { message: 'old' })
  const dropped = await dropExpiredLogs(store, await listLogDays(store), 30, NOW_MS)
  const habits = await keepHabits(deps, store)
  return { dropped, expired, habits, dead: bus.sent.map(({ record }) => record.headers), seen: await stored(store) }
}

/** Habits of a partition that a bridge keeps, and the next one that has it finds; a third had read them before. */
async function keepHabits({ clock, log, signal }: ThreadDeps, store: SearchStore): Promise<readonly KeptHabits[]> {
  const found: KeptHabits[] = []
  const [first, stale, next] = Array.from({ length: 3 }, () =>
    createHabitKeeper({ store, topic: TOPICS.ENRICHED_TOPIC, clock, log, signal }),
  ) as [HabitKeeper, HabitKeeper, HabitKeeper]
  const habits = (finding: string): KeptHabits[] => [
    { partition: 0, habits: [{ service: `${TENANT}/cart`, finding, bursts: [[1, 2, 3]] }] },
  ]
  await stale.load([0], () => {})
  for (const [keeper, finding] of [
    [first, 'errors'],
    [stale, 'silence'],
  ] as const) {
    keeper.save(habits(finding))
    await keeper.settled()
  }
  await next.load([0], kept => found.push(kept))
  return found
}

/** Aliases are made beside the way of records: waits until the store has answered calls that hold these texts. */
async function untilAnswered({ calls }: RecordedStore, ...texts: readonly string[]): Promise<void> {
  while (!texts.every(text => calls().some(call => call.includes(text)))) await new Promise(resolve => setTimeout(resolve, 10))
}

/** Everything that came of it, as a reader finds it. */
async function stored(store: SearchStore): Promise<unknown> {
  const seen: unknown[] = []
  for (const index of [`service-logs-${TENANT}`, 'service-anomalies-*', INCIDENTS, `service-audit-${TENANT}`]) {
    await store.refresh(index)
    const { hits } = await store.search({ index, body: { size: 100, track_total_hits: true } })
    seen.push(hits.map(({ id, index: at, source }) => ({ at, id, source })).sort((a, b) => (a.id < b.id ? -1 : 1)))
  }
  return seen
}
