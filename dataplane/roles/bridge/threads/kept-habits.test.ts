import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { CONFIG_INDEX } from '../../../contract/indices.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import type { LogAliases } from '../../../pipeline/sinks/aliases/log-aliases.ts'
import { createHabitKeeper } from '../../../pipeline/sinks/habit-keeper.ts'
import { createEtl } from '../../../pipeline/steps/flatten/etl.ts'
import { createAnomalyWork } from '../../../pipeline/work/anomaly-work.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { createDirectLane } from './direct-lane.ts'
import { createDocumentWriter } from './document-writer.ts'
import type { ThreadDeps } from './thread-deps.ts'

const START_MS = Date.UTC(2026, 10, 21)
const HOUR_MS = 3_600_000
const PARTITION = 2
const SETTINGS = {
  RAW_TOPIC: 'raw-logs',
  ENRICHED_TOPIC: 'enriched-logs',
  ANOMALY_TOPIC: 'anomaly-events',
  DEAD_LETTER_TOPIC: 'dead-letter-queue',
  RETENTION_DAYS: 30,
  DEFAULT_TENANT: 'default',
}
const NO_ALIASES: LogAliases = { note() {}, start() {}, knownSinceMs: () => undefined }
const CONFIG = { anomalyThreshold: 2.5, windowSize: 50 }
const NO_FEATURES = { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined }
const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: NO_FEATURES.lookup })

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** A quarter of an hour of a service, whose job warns eight times in it. */
function hourOf(hour: number): Buffer {
  const fromMs = START_MS + hour * HOUR_MS
  const at = (ms: number, severityText: string, stringValue: string) => ({
    timeUnixNano: `${fromMs + ms}000000`,
    severityText,
    body: { stringValue },
  })
  const logRecords = [
    ...Array.from({ length: 225 }, (_, n) => at(n * 4_000, 'INFO', `order ${n} shipped`)),
    ...Array.from({ length: 8 }, (_, n) => at(750_100 + n * 200, 'WARN', `cart ${n} has no owner, skipped`)),
  ].toSorted((a, b) => Number(BigInt(a.timeUnixNano) - BigInt(b.timeUnixNano)))
  const resource = { attributes: [attribute('tenant_id', 'acme'), attribute('service.name', 'cart')] }
  return Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }))
}

for (const name of ['the thread anomaly', 'the direct lane'] as const)
  describe(`habits of services are kept: ${name}`, () => {
    let bus: ReturnType<typeof createRecordingBus>
    let store: MemorySearchStore
    let offset: number
    beforeEach(() => {
      bus = createRecordingBus()
      store = createMemorySearchStore()
      offset = 0
    })

    const topic = name === 'the direct lane' ? 'raw-logs' : 'enriched-logs'
    const messagesOf = (hour: number): readonly ConsumedRecord[] => {
      const message = { topic, partition: PARTITION, timestampMs: START_MS + hour * HOUR_MS, headers: {}, key: 'acme/cart' }
      const raw = hourOf(hour)
      if (topic === 'raw-logs') return [{ ...message, offset: offset++, value: raw }]
      return etl
        .process(raw, message.timestampMs)
        .records.map(({ value, headers = {} }) => ({ ...message, offset: offset++, headers, value: Uint8Array.from(value) }))
    }
    const start = () => {
      const clock = { nowMs: () => START_MS, sleep: async () => undefined }
      const signal = new AbortController().signal
      const deps = {
        settings: SETTINGS,
        bus,
        count() {},
        log: SILENT,
        clock,
        signal,
        config: { read: () => CONFIG },
      } as unknown as ThreadDeps
      const habits = createHabitKeeper({ store, topic, clock, log: SILENT, signal })
      const work: Work =
        topic === 'raw-logs'
          ? createDirectLane({
              ...{ ...deps, habits, features: NO_FEATURES },
              writer: createDocumentWriter({ ...deps, store, aliases: NO_ALIASES }),
            })
          : createAnomalyWork({ ...deps, config: () => CONFIG, standsBy: false, habits })
      return { work, habits }
    }
    /** Whether the job of each hour is told, with a start before each; `commits`: whether what an hour brings is committed. */
    const told = async (hours: readonly number[], commits: (hour: number) => boolean = () => true): Promise<readonly number[]> => {
      const spoke: number[] = []
      let before: readonly ConsumedRecord[] = []
      for (const hour of hours) {
        const { work, habits } = start()
        work.memory!.reset()
        if (before.length > 0) await work.memory!.restore(before)
        bus.forget()
        const records = messagesOf(hour)
        const afterCommit = await work.handle(records, bus)
        if (commits(hour)) {
          afterCommit?.()
          before = records
        }
        await habits.settled()
        const events = bus.sent.map(({ record: { key, value, headers = {} } }) => decodeAnomalyEvent({ key, value, headers })!.anomaly)
        if (events.some(({ signal }) => signal?.includes('has no owner'))) spoke.push(hour)
      }
      return spoke
    }

    it('a job that was told three times is not told after a start', async () => {
      expect(await told([0, 1, 2, 3, 4, 5])).to.deep.equal([0, 1, 2])
    })

    it('what was not committed was not kept: the same records tell the same again', async () => {
      expect(await told([0, 1, 2, 2, 3], hour => hour !== 2)).to.deep.equal([0, 1, 2, 2, 3])
      expect(store.documents(CONFIG_INDEX).get(`habits:${topic}:${PARTITION}`)).to.have.nested.property('habits[0].bursts.length', 3)
    })

    it('a store that loses them costs three more times', async () => {
      expect(await told([0, 1, 2, 3])).to.deep.equal([0, 1, 2])
      await store.deleteIndex(CONFIG_INDEX)
      expect(await told([4, 5, 6, 7])).to.deep.equal([4, 5, 6])
    })
  })
