/** The thread `lifecycle`: stores anomalies, and makes incidents of them. */
import { consumerGroup } from '../../../contract/consumer-groups.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { tenantIn } from '../../../domain/tenants/tenant.ts'
import { createFairRounds } from '../../../limits/fair-rounds.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters, type DeadLetterDeps } from '../../../pipeline/dead-letters/dead-letter.ts'
import { LeftUndone, type Work } from '../../../pipeline/runners/work.ts'
import { createGroupingConfigs, type GroupingConfigs } from '../../../pipeline/sinks/incidents/grouping-configs.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { createTenantRooms, type TenantRooms } from '../../../pipeline/sinks/tenants/tenant-rooms.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { installIndexTemplates } from '../install-index-templates.ts'
import { createAnomalyPlaces } from './anomaly-places.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Anomalies per partition that are read again when a partition comes, to fill the grouping windows as they were. */
const REWIND_RECORDS = 1_000
/** In a storm many anomalies share the writes to their incidents: twice a second each open one is written. */
const MIN_BATCH_MS = 500
/** Batches that are read ahead, and their bounds: far enough to find other tenants' anomalies behind one tenant's many. */
const MAX_READ_AHEAD = 24
const MAX_BATCH_RECORDS = 2_000
const MAX_BATCH_BYTES = 2 * 1024 * 1024
/** Anomalies and services of a round, which all tenants share. */
const MAX_ANOMALIES = 2_000
const MAX_SERVICES = 500

/** State that outlives the work: tenants that have indices, and tenants whose indices do not work. */
export function openTenantRooms(
  { clock }: ThreadDeps,
  store: SearchStore,
  knownSinceMs?: (tenant: string) => number | undefined,
): TenantRooms {
  return createTenantRooms({ store, clock, ...(knownSinceMs !== undefined && { knownSinceMs }) })
}

/**
 * Stores every anomaly and groups anomalies into incidents (Spec: Pipeline rules 5, Incident status). Those of tenants that have no indices yet
 * and get none this minute, or whose indices do not work, wait in the default tenant's index; the others never wait for them.
 */
export function createLifecycleWork(
  deps: ThreadDeps,
  store: SearchStore,
  rooms: TenantRooms = openTenantRooms(deps, store),
  outages: IndexOutages = createIndexOutages({ ...deps, store }),
  configs: GroupingConfigs = createGroupingConfigs({ ...deps, store, outages }),
): Work {
  const { settings, countDeadLetters, clock, log } = deps
  const topics = [settings.ANOMALY_TOPIC]
  const deadLettersInto = (bus: DeadLetterDeps['bus']) =>
    collectDeadLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, stage: 'lifecycle', clock, log, countDeadLetters })
  const places = createAnomalyPlaces(deps, { store, rooms, outages, configs, deadLettersInto })

  /** Works on the anomalies of one round; resolves to the records that become dead letters. */
  const workOn = async (records: readonly ConsumedRecord[]): Promise<readonly RefusedRecord[]> => {
    const anomalies: Anomaly[] = []
    const origin = new Map<string, ConsumedRecord>()
    const refused: RefusedRecord[] = []
    for (const record of records) {
      const event = decodeAnomalyEvent(record)
      if (event === undefined) {
        refused.push({ item: record, reason: 'anomaly event: cannot be read' })
      } else {
        anomalies.push(event.anomaly)
        origin.set(event.anomaly.id, record)
      }
    }
    for (const { anomaly, reason } of await places.place(anomalies)) refused.push({ item: origin.get(anomaly.id)!, reason })
    return refused
  }
  // Grouping is one state machine for each tenant: rounds follow one another, and a tenant's anomalies keep their order.
  const rounds = createFairRounds({
    ownerOf: ({ key }: ConsumedRecord) => tenantIn(key),
    partOf: ({ key }) => key,
    ...{ maxItems: MAX_ANOMALIES, maxParts: MAX_SERVICES, work: workOn },
  })

  return {
    subscription: { groupId: consumerGroup('lifecycle', topics), topics },
    limits: { maxRecords: MAX_BATCH_RECORDS, maxBytes: MAX_BATCH_BYTES, waitMs: 200 },
    maxInFlight: MAX_READ_AHEAD,
    minBatchMs: MIN_BATCH_MS,
    memory: {
      records: REWIND_RECORDS,
      reset: places.reset,
      async restore(records) {
        const anomalies = records.flatMap(record => decodeAnomalyEvent(record)?.anomaly ?? [])
        const readable = await places.readable(anomalies)
        await rounds.between(() => places.restore(readable))
      },
    },
    prepare: () => installIndexTemplates(store, settings),
    async handle(records, output) {
      const dead = deadLettersInto(output)
      for (const { item, reason } of await rounds.add(records)) dead.add(item, reason)
      await dead.send()
      await rounds.between(places.resume)
      return dead.count
    },
    idle: () => rounds.between(places.resume),
    leave: () => rounds.leave(new LeftUndone()),
  }
}

interface RefusedRecord {
  readonly item: ConsumedRecord
  readonly reason: string
}
