/** The thread `lifecycle`: stores anomalies, and makes incidents of them. */
import { consumerGroup } from '../../../contract/consumer-groups.ts'
import { lifecycleIndices } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { busKey, tenantIn } from '../../../domain/tenants/tenant.ts'
import { createFairRounds } from '../../../limits/fair-rounds.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters, type DeadLetterDeps } from '../../../pipeline/dead-letters/dead-letter.ts'
import { inAnyOrder } from '../../../pipeline/in-any-order.ts'
import { LeftUndone, type Work } from '../../../pipeline/runners/work.ts'
import { createGroupingConfigs, type GroupingConfigs } from '../../../pipeline/sinks/grouping-configs.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { createIncidentOpener } from '../../../pipeline/sinks/open-incidents.ts'
import { TenantFailure } from '../../../pipeline/sinks/tenant-failure.ts'
import { createTenantOutages } from '../../../pipeline/sinks/tenant-outages.ts'
import { createTenantRooms, type TenantRooms } from '../../../pipeline/sinks/tenant-rooms.ts'
import { createWaitingAnomalies } from '../../../pipeline/sinks/waiting-anomalies.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import { installIndexTemplates } from '../install-index-templates.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Anomalies per partition that are read again when a partition comes, to fill the grouping windows as they were. */
const REWIND_RECORDS = 1_000
/** In a storm many anomalies share the writes to their incidents: twice a second each open one is written. */
const MIN_BATCH_MS = 500
/** How often waiting anomalies are looked after: while there are some, and in case another bridge left some. */
const RESUME_MS = 1_000
const LOOK_MS = 600_000
/** Batches that are read ahead, and their bounds: far enough to find other tenants' anomalies behind one tenant's many. */
const MAX_READ_AHEAD = 24
const MAX_BATCH_RECORDS = 2_000
const MAX_BATCH_BYTES = 2 * 1024 * 1024
/** Anomalies and services of a round, which all tenants share. */
const MAX_ANOMALIES = 2_000
const MAX_SERVICES = 500
/** Tenants whose waiting anomalies are taken at once. */
const MAX_RESUMED_TENANTS = 20
const WARN_EVERY_MS = 60_000

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
  const { settings, count, countDeadLetters, clock, log, signal } = deps
  const { RETENTION_DAYS: retentionDays } = settings
  const openOpener = () => createIncidentOpener({ store, clock, signal, retentionDays, configs, onProgress: countDocuments(count) })
  let opener = openOpener()
  const tenantOutages = createTenantOutages(outages)
  const waiting = createWaitingAnomalies({ store, clock, signal, outages })
  let mayWait = true
  let lookedMs = Number.NEGATIVE_INFINITY
  let warnedMs = Number.NEGATIVE_INFINITY
  const topics = [settings.ANOMALY_TOPIC]

  /** Opens and folds incidents; tenants whose indices do not work are left out from now on, while the store itself works. */
  const handOver = async (anomalies: readonly Anomaly[]) => {
    if (anomalies.length === 0) return []
    try {
      const { refused } = await opener.handle(anomalies)
      if (outages.isAny && anomalies.some(isDefault)) for (const index of lifecycleIndices(DEFAULT_TENANT)) outages.took(index, true)
      for (const { anomaly, hasNoRoom } of refused) if (hasNoRoom) rooms.hasNoRoom(anomaly.tenant_id)
      return refused
    } catch (error) {
      if (error instanceof TenantFailure)
        rooms.close(await tenantOutages.toBlame(error, new Set(anomalies.map(({ tenant_id }) => tenant_id))))
      throw error
    }
  }

  /** Resolves to those that find no room anywhere. */
  const letWait = async (anomalies: readonly Anomaly[]) => {
    if (anomalies.length === 0) return []
    mayWait = true
    count('anomaliesDelayed', anomalies.length)
    if (!isRecent(warnedMs, WARN_EVERY_MS, clock.nowMs())) {
      warnedMs = clock.nowMs()
      const tenants = new Set(anomalies.map(({ tenant_id }) => tenant_id))
      log.warn(
        { anomalies: anomalies.length, tenants: tenants.size, tenant: anomalies[0]!.tenant_id },
        "anomalies wait in the default tenant's index: their tenants are new beyond the limit, or their indices find no room or do not work",
      )
    }
    return waiting.add(anomalies)
  }

  /** Stores anomalies where they belong, or lets them wait; resolves to those that the store will not take. */
  const place = async (anomalies: readonly Anomaly[]) => {
    const admitted = await rooms.admit(anomalies.map(({ tenant_id }) => tenant_id))
    const isAdmitted = ({ tenant_id }: Anomaly) => admitted.has(tenant_id)
    const refused = await handOver(anomalies.filter(isAdmitted))
    const homeless = refused.filter(({ hasNoRoom }) => hasNoRoom).map(({ anomaly }) => anomaly)
    // The default tenant's have nowhere else to wait.
    const [shut, others] = partition([...anomalies.filter(anomaly => !isAdmitted(anomaly)), ...homeless], isDefault)
    const notKept = shut.map(anomaly => ({ anomaly, reason: "the default tenant's indices do not work or find no room" }))
    return [...refused.filter(({ hasNoRoom }) => !hasNoRoom), ...notKept, ...(await letWait(others))]
  }

  const deadLettersInto = (bus: DeadLetterDeps['bus']) =>
    collectDeadLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, stage: 'lifecycle', clock, log, countDeadLetters })

  /** Takes up some of the anomalies that wait, as tenants get their indices. */
  const resume = async () => {
    if (isRecent(lookedMs, mayWait ? RESUME_MS : LOOK_MS, clock.nowMs())) return
    lookedMs = clock.nowMs()
    if ((await tenantOutages.red([DEFAULT_TENANT])).size > 0) return
    const tenants = await waiting.tenants()
    mayWait = tenants.length > 0
    if (!mayWait) return
    const open = await rooms.admit(inAnyOrder(tenants))
    const red = await tenantOutages.red(open)
    rooms.close(red)
    const admitted = [...open].filter(tenant => !red.has(tenant)).slice(0, MAX_RESUMED_TENANTS)
    if (admitted.length === 0) return
    const anomalies = await waiting.of(admitted)
    const [homeless, refused] = partition(await handOver(anomalies), ({ hasNoRoom }) => hasNoRoom)
    // Tried again in a minute, not at every turn.
    rooms.close(homeless.map(({ anomaly }) => anomaly.tenant_id))
    const dead = deadLettersInto(deps.bus)
    for (const { anomaly, reason } of refused) dead.add(lostEvent(anomaly, settings.ANOMALY_TOPIC, clock.nowMs()), reason)
    await dead.send()
    const waitOn = new Set(homeless.map(({ anomaly }) => anomaly.id))
    const settled = anomalies.filter(({ id }) => !waitOn.has(id))
    await waiting.remove(settled)
    dead.count()
    count('anomaliesResumed', settled.length - refused.length)
  }

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
    for (const { anomaly, reason } of await place(anomalies)) refused.push({ item: origin.get(anomaly.id)!, reason })
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
      reset() {
        opener = openOpener()
      },
      async restore(records) {
        const anomalies = records.flatMap(record => decodeAnomalyEvent(record)?.anomaly ?? [])
        const known = await rooms.known(anomalies.map(({ tenant_id }) => tenant_id))
        // Tenants that cannot be read must not keep the others from going on.
        const red = await tenantOutages.red(known)
        const readable = anomalies.filter(({ tenant_id }) => known.has(tenant_id) && !red.has(tenant_id))
        await rounds.between(() => opener.restore(readable))
      },
    },
    prepare: () => installIndexTemplates(store, settings),
    async handle(records, output) {
      const dead = deadLettersInto(output)
      for (const { item, reason } of await rounds.add(records)) dead.add(item, reason)
      await dead.send()
      await rounds.between(resume)
      return dead.count
    },
    idle: () => rounds.between(resume),
    leave: () => rounds.leave(new LeftUndone()),
  }
}

interface RefusedRecord {
  readonly item: ConsumedRecord
  readonly reason: string
}

/** The event of an anomaly that waited, without its log record, which was stored apart: the letter shows the anomaly, and a replay leaves it out. */
function lostEvent(anomaly: Anomaly, topic: string, nowMs: number): ConsumedRecord {
  const { tenant_id: tenant, service } = anomaly
  const value = Buffer.from(JSON.stringify(anomaly))
  const unreadable = 'an anomaly that waited, without its log record'
  return { topic, partition: 0, offset: 0, timestampMs: nowMs, key: busKey(tenant, service), value, headers: {}, unreadable }
}

const isDefault = ({ tenant_id }: Anomaly) => tenant_id === DEFAULT_TENANT

/** Those that pass a test, and the others. */
function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  const { yes = [], no = [] } = Object.groupBy(items, item => (test(item) ? 'yes' : 'no'))
  return [yes, no]
}
