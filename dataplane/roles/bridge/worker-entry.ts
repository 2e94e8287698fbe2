/** Entry of a bridge worker: connects, then runs the work of its threads until told to stop, each again with back-off whenever it fails. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import type { BridgeThread } from '../../contract/bridge-threads.ts'
import { BRIDGE_METRICS, type BridgeMetric } from '../../contract/counters.ts'
import { giveBackGarbage } from '../../memory/give-back-garbage.ts'
import { createFeatureCache, type FeatureCache } from '../../pipeline/features/feature-cache.ts'
import { runAtLeastOnce } from '../../pipeline/runners/at-least-once.ts'
import { supervise } from '../../pipeline/runners/supervise.ts'
import { type Work, withReady } from '../../pipeline/runners/work.ts'
import type { LogAliases } from '../../pipeline/sinks/aliases/log-aliases.ts'
import type { HabitKeeper } from '../../pipeline/sinks/habit-keeper.ts'
import type { GroupingConfigs } from '../../pipeline/sinks/incidents/grouping-configs.ts'
import type { IndexOutages } from '../../pipeline/sinks/index-outages.ts'
import type { TenantRooms } from '../../pipeline/sinks/tenants/tenant-rooms.ts'
import { givingUpUnreadable } from '../../pipeline/unreadable-records.ts'
import type { DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { keepCompiledCode } from '../../process/keep-compiled-code.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { attachSharedCounters } from '../../telemetry/shared-counters.ts'
import { connectBus, connectSearchStore, openOnlineStore } from '../backends.ts'
import { installIndexTemplates } from './install-index-templates.ts'
import { withKeptTemplates } from './kept-templates.ts'
import { attachRuntimeConfig } from './runtime-config.ts'
import type { DocumentWriter } from './threads/document-writer.ts'
import type { ThreadDeps } from './threads/thread-deps.ts'
import type { FromWorker, ToWorker, WorkerData } from './worker-messages.ts'

/** A worker loads only what its threads work with. etl and anomaly leave their work to the stream jobs while there are any (`roles/stream/README.md`). */
const WORK: Readonly<Record<BridgeThread, (deps: ThreadDeps) => Promise<Work>>> = {
  etl: async deps => {
    const features = openFeatures(deps)
    if (!hasDirectLane) return (await import('../../pipeline/work/etl-work.ts')).createEtlWork({ ...deps, features, standsBy: true })
    return (await import('./threads/direct-lane.ts')).createDirectLane({
      ...{ ...deps, features, writer: await openWriter(deps) },
      habits: await openHabits(deps, settings.RAW_TOPIC),
    })
  },
  anomaly: async deps =>
    (await import('../../pipeline/work/anomaly-work.ts')).createAnomalyWork({
      ...{ ...deps, config: deps.config.read, standsBy: true },
      habits: await openHabits(deps, settings.ENRICHED_TOPIC),
    }),
  indexer: async deps => (await import('./threads/indexer.ts')).createIndexerWork(deps, await openWriter(deps)),
  lifecycle: async deps => {
    const { createLifecycleWork, openTenantRooms } = await import('./threads/lifecycle.ts')
    const own = await openStore()
    rooms ??= openTenantRooms(deps, own, tenant => aliases?.knownSinceMs(tenant))
    return createLifecycleWork(deps, own, rooms, await openOutages(own), await openGroupingConfigs(deps, own))
  },
}

const port = parentPort!
const {
  threads,
  hasDirectLane,
  settings,
  bus: link,
  searchPort,
  counters: countersBuffer,
  config: configBuffer,
  logFormat,
} = workerData as WorkerData
const clock = systemClock
giveBackGarbage({ isPatient: true })
const log = createLogger({ level: settings.LOG_LEVEL, format: logFormat, fields: { role: 'bridge' } })
const bus = await connectBus(link, { clock, log })
let store: Promise<SearchStore> | undefined
let aliases: LogAliases | undefined
let writer: DocumentWriter | undefined
let rooms: TenantRooms | undefined
let outages: IndexOutages | undefined
let configs: GroupingConfigs | undefined
let features: FeatureCache | undefined
const habits = new Map<string, HabitKeeper>()
let declared: DeclaredTicketingSource | undefined
const counters = attachSharedCounters(Object.keys(BRIDGE_METRICS) as BridgeMetric[], countersBuffer)
const stopping = new AbortController()
port.on('message', (message: ToWorker) => {
  if (message.kind === 'stop') stopping.abort()
})
const config = attachRuntimeConfig(configBuffer)

await Promise.all(threads.map(runThread))
await Promise.all([bus.stop(), ...[...habits.values()].map(each => each.settled())])
await Promise.all([(await store)?.close(), declared?.stop()])
port.close()

async function runThread(thread: BridgeThread): Promise<void> {
  const deps: ThreadDeps = {
    settings,
    bus,
    config,
    count: (counter, amount) => counters.add(counter, amount),
    countDeadLetters: (stage, tenant, letters) => port.postMessage({ kind: 'deadLetters', stage, tenant, letters } satisfies FromWorker),
    log: log.child({ thread }),
    clock,
    signal: stopping.signal,
  }
  await supervise({
    clock,
    signal: stopping.signal,
    onState: (state, error) =>
      port.postMessage({ kind: 'state', thread, state, ...(error === undefined ? {} : { error: error.message }) } satisfies FromWorker),
    run: async ready => {
      const letters = { topic: settings.DEAD_LETTER_TOPIC, stage: thread, clock, log: deps.log, countDeadLetters: deps.countDeadLetters }
      const work = givingUpUnreadable(await WORK[thread](deps), letters)
      keepCompiledCode()
      return runAtLeastOnce({ bus, clock, work: withReady(work, ready), signal: stopping.signal })
    },
  })
}

function openStore(): Promise<SearchStore> {
  store ??= connectSearchStore(settings, { bulkPort: searchPort, isBackground: true }).then(own =>
    // A store of the same process comes and goes with it.
    own.bulkPacked === undefined
      ? withKeptTemplates(own, { install: () => installIndexTemplates(own, settings), clock, signal: stopping.signal })
      : own,
  )
  return store
}

/** The writer outlives the work, and serves the indexer and the direct lane: a document that both write is counted once. */
async function openWriter(deps: ThreadDeps): Promise<DocumentWriter> {
  const { createDocumentWriter, openLogAliases } = await import('./threads/document-writer.ts')
  const own = await openStore()
  aliases ??= openLogAliases(deps, own)
  writer ??= createDocumentWriter({ ...deps, store: own, aliases, outages: await openOutages(own) })
  return writer
}

/** Outages outlive the work: an index that holds a batch up for longer than its threads live is known as the same outage. */
async function openOutages(store: SearchStore): Promise<IndexOutages> {
  const { createIndexOutages } = await import('../../pipeline/sinks/index-outages.ts')
  outages ??= createIndexOutages({ store, clock, log })
  return outages
}

/** Configurations outlive the work: the last known one of a tenant holds while the present one cannot be read. */
async function openGroupingConfigs(deps: ThreadDeps, store: SearchStore): Promise<GroupingConfigs> {
  const { createGroupingConfigs } = await import('../../pipeline/sinks/incidents/grouping-configs.ts')
  const declaredNow = await openDeclared(deps)
  const declaredAnomaly = () => declaredNow?.current()?.anomaly ?? {}
  configs ??= createGroupingConfigs({ store, clock, log, outages: await openOutages(store), declaredAnomaly })
  return configs
}

/** Habits outlive the work; those that are not stored yet are written when it ends. */
async function openHabits({ log: ownLog, signal }: ThreadDeps, topic: string): Promise<HabitKeeper> {
  const { createHabitKeeper } = await import('../../pipeline/sinks/habit-keeper.ts')
  const keeper = habits.get(topic) ?? createHabitKeeper({ store: await openStore(), topic, clock, log: ownLog, signal })
  habits.set(topic, keeper)
  return keeper
}

async function openDeclared({ settings: { TICKETING_CONFIG_DIR: directory } }: ThreadDeps): Promise<DeclaredTicketingSource | undefined> {
  if (directory === undefined) return undefined
  const { createDeclaredTicketing } = await import('../../adapters/declared-ticketing/declared-ticketing.ts')
  declared ??= createDeclaredTicketing(directory, { clock, log })
  await declared.start()
  return declared
}

/** The cache follows the online store for as long as the worker lives. */
function openFeatures({ log, signal }: ThreadDeps): FeatureCache {
  features ??= createFeatureCache({ open: () => openOnlineStore(settings), clock, log, signal })
  return features
}
