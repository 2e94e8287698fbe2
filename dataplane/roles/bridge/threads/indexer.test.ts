import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { Work } from '../../../pipeline/runners/work.ts'
import { createEtl } from '../../../pipeline/steps/flatten/etl.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { BulkOperation, BulkOutcome, SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { createDocumentWriter } from './document-writer.ts'
import { createIndexerWork } from './indexer.ts'
import type { ThreadDeps } from './thread-deps.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const turn = () => new Promise(setImmediate)

let offset = 0

/** Enriched logs of one tenant, each with a message of so many characters. */
function enriched(tenant: string, count: number, characters = 10): ConsumedRecord[] {
  const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
  const resource = { attributes: [{ key: 'tenant_id', value: { stringValue: tenant } }] }
  const logRecords = Array.from({ length: count }, (_, i) => ({
    attributes: [{ key: 'order', value: { stringValue: `${offset}/${i}` } }],
    timeUnixNano: `${NOW_MS}${String(i).padStart(6, '0')}`,
    body: { stringValue: `${i} ${'x'.repeat(characters)}` },
  }))
  const { records } = etl.process(Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })), NOW_MS)
  return records.map(({ key, value, headers = {} }) => ({
    topic: 'enriched-logs',
    partition: 0,
    offset: offset++,
    timestampMs: NOW_MS,
    key,
    value: Buffer.from(value),
    headers,
  }))
}

describe('documents that the store takes with folded attributes alone', () => {
  it('are told to the log with the reason, once a minute with how many there were', async () => {
    const clock = createFakeClock(NOW_MS)
    const warned: object[] = []
    const bus = createRecordingBus()
    const bulk = async (operations: readonly BulkOperation[]): Promise<readonly BulkOutcome[]> =>
      operations.map(({ body }) =>
        JSON.parse(Buffer.from(body as Uint8Array).toString()).order === undefined
          ? { status: 'done', created: true }
          : { status: 'refused', reason: `400 failed to parse field [order] of type [long] ${'x'.repeat(1_000)}` },
      )
    const deps = {
      settings: { ENRICHED_TOPIC: 'enriched-logs', ANOMALY_TOPIC: 'anomaly-events', DEAD_LETTER_TOPIC: 'dead-letter-queue' },
      ...{ bus, clock, count: () => undefined, signal: new AbortController().signal },
      log: { ...SILENT, warn: (fields: object) => void warned.push(fields) },
    } as unknown as ThreadDeps
    const work = createIndexerWork(deps, createDocumentWriter({ ...deps, store: { ...createMemorySearchStore(), bulk } }))
    for (const [count, waitMs] of [
      [3, 1_000],
      [2, 60_000],
      [4, 0],
    ] as const) {
      await work.handle(enriched('shop', count), bus)
      clock.advance(waitMs)
    }
    expect(warned).to.have.length(2)
    expect(warned[0]).to.include({ index: 'service-logs-2026.11.21', documents: 1 })
    expect((warned[0] as { reason: string }).reason)
      .to.match(/^400 failed to parse field \[order\]/)
      .and.have.length.below(400)
    expect(warned[1]).to.include({ documents: 5 })
  })
})

const loud = () => enriched('loud', 10, 60_000)
const quiet = () => enriched('quiet', 2)

describe('the indexer while one tenant brings much', () => {
  let work: Work
  let bus: ReturnType<typeof createRecordingBus>
  /** Tenants of each write that the store has not answered, and its answer. */
  let writes: { readonly tenants: ReadonlySet<string>; answer(): void }[]
  beforeEach(() => {
    writes = []
    bus = createRecordingBus()
    const bulk = (operations: readonly BulkOperation[]) =>
      new Promise<readonly BulkOutcome[]>(resolve => {
        const tenants = new Set(operations.map(({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()).tenant_id as string))
        writes.push({ tenants, answer: () => resolve(operations.map(() => ({ status: 'done', created: true }) as BulkOutcome)) })
      })
    const store: SearchStore = { ...createMemorySearchStore(), bulk }
    const deps = {
      settings: { ENRICHED_TOPIC: 'enriched-logs', ANOMALY_TOPIC: 'anomaly-events', DEAD_LETTER_TOPIC: 'dead-letter-queue' },
      bus,
      count: () => undefined,
      log: SILENT,
      clock: createFakeClock(NOW_MS),
      signal: new AbortController().signal,
    } as unknown as ThreadDeps
    work = createIndexerWork(deps, createDocumentWriter({ ...deps, store }))
  })

  const tenantsWritten = () => writes.map(({ tenants }) => [...tenants].join())

  it('writes records of others in the same batch by themselves', async () => {
    const handled = work.handle([...loud(), ...quiet()], bus)
    await turn()
    expect(tenantsWritten()).to.have.members(['quiet', 'loud'])
    for (const { answer } of writes) answer()
    await handled
  })

  it('writes records of others while many of its batches wait for the store', async () => {
    const maxBatches = work.maxInFlight!
    const handled = Array.from({ length: maxBatches }, (_, i) => work.handle(i < maxBatches - 1 ? loud() : quiet(), bus))
    await turn()
    expect(tenantsWritten()).to.deep.equal(['loud', 'loud', 'loud', 'quiet'])
    for (let at = 0; at < maxBatches; at++) {
      writes[at]!.answer()
      await turn()
    }
    await Promise.all(handled)
    expect(tenantsWritten().filter(tenants => tenants === 'loud')).to.have.length(maxBatches - 1)
  })

  it('is done with a batch when all of it is written', async () => {
    let isDone = false
    const handled = work.handle([...loud(), ...quiet()], bus).then(() => {
      isDone = true
    })
    await turn()
    writes.find(({ tenants }) => tenants.has('quiet'))!.answer()
    await turn()
    expect(isDone).to.equal(false)
    for (const { answer } of writes) answer()
    await handled
  })
})
