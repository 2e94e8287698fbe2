/** Fills an embedded store with a day of log records: `hack/node hack/bench/fill-store.ts --dir DATA_DIR [--records N] [--end TIME]`. */
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../dataplane/adapters/clock/system-clock.ts'
import { createSearchStore } from '../../dataplane/adapters/search/search-store.ts'
import { INDEX_TEMPLATES } from '../../dataplane/domain/documents/index-templates.ts'
import { acceptJson } from '../../dataplane/otlp/json/accept-json.ts'
import { createDocumentBuilder } from '../../dataplane/pipeline/steps/index-documents.ts'
import type { BulkOperation } from '../../dataplane/ports/search-store.ts'
import { createSearchServer } from '../../dataplane/search-store/search-server.ts'
import { type GeneratedRecord, generateRequests } from './generator.ts'
import { Random } from './random.ts'
import { ACCEPT_OPTIONS, newEtl, toMessage } from './sample-records.ts'

const DAY_MS = 86_400_000
const RECORDS_PER_BULK = 4_000
const BULKS_AT_ONCE = 3
const TEMPLATES = 20_000
const RECORDS_PER_REQUEST = 100
/** Every fifth record is one of 300 rarer kinds, the first of them a thousand times as frequent as the last. */
const RARE_EVERY = 5
const VERBS =
  'accepted,archived,cancelled,compacted,copied,delivered,dropped,expired,flushed,granted,issued,loaded,merged,moved,opened'.split(',')
const THINGS =
  'invoice,voucher,parcel,session,coupon,basket,refund,ticket,address,picture,review,token,lease,partition,snapshot,index,thread,message,quota,report'.split(
    ',',
  )
/** Records of a trace follow each other. */
const RECORDS_PER_TRACE = 8
/** Records come up to so much later than others that were made after them. */
const JITTER_MS = 2_000

/** A stored document, cut where each record differs. */
interface Template {
  readonly parts: readonly string[]
  /** Values between the parts. */
  readonly slots: readonly ('timestamp' | 'nanos' | 'unixNano' | 'id' | 'trace' | 'span' | 'session')[]
}

/** Operations on an index for each day, times rising to `endMs`. */
function* dayOfOperations(records: number, endMs: number, seed = 1): Generator<BulkOperation, void, undefined> {
  const random = new Random(seed)
  const templates = makeTemplates()
  let trace = random.hex(32)
  for (let at = 0; at < records; at++) {
    const ms = Math.floor(endMs - DAY_MS + (at / records) * DAY_MS) - random.below(JITTER_MS)
    const nanos = random.below(1_000_000)
    const iso = new Date(ms).toISOString()
    if (at % RECORDS_PER_TRACE === 0) trace = random.hex(32)
    const fill = {
      timestamp: `${iso.slice(0, -1)}${String(nanos).padStart(6, '0')}Z`,
      nanos: String(nanos),
      unixNano: `${ms}${String(nanos).padStart(6, '0')}`,
      id: randomUUID(),
      trace,
      span: '',
      session: '',
    }
    // Ten neighbours are of ten services.
    const { parts, slots } = templates[((at % 200) * RECORDS_PER_REQUEST + Math.floor(at / 200)) % TEMPLATES]!
    let body = parts[0]!
    for (let k = 0; k < slots.length; k++) {
      const slot = slots[k]!
      body += slot === 'span' || slot === 'session' ? random.hex(16) : fill[slot]
      body += parts[k + 1]!
    }
    yield { action: 'create', index: `service-logs-${iso.slice(0, 10).replaceAll('-', '.')}`, id: fill.id, body }
  }
}

function makeTemplates(): Template[] {
  const random = new Random(7)
  const etl = newEtl()
  const builder = createDocumentBuilder()
  return generateRequests(TEMPLATES / RECORDS_PER_REQUEST, RECORDS_PER_REQUEST).flatMap(request => {
    for (const [at, record] of request.resourceLogs[0].scopeLogs[0].logRecords.entries())
      if (at % RARE_EVERY === 0) makeRare(record, random)
    const { message } = toMessage(acceptJson(Buffer.from(JSON.stringify(request)), ACCEPT_OPTIONS))
    return etl.process(message, Date.now()).records.map(({ key, value, headers }) => {
      const outcome = builder.log({ key, value, headers: headers ?? {} } as Parameters<typeof builder.log>[0])
      if (outcome.kind !== 'emit') throw new Error(`a generated record became no document: ${outcome.reason}`)
      return cut(String(outcome.value.operation.body))
    })
  })
}

function makeRare(record: GeneratedRecord, random: Random): void {
  const kind = Math.floor(300 * (random.below(1_000) / 1_000) ** 3)
  const [verb, thing] = [VERBS[kind % VERBS.length]!, THINGS[Math.floor(kind / VERBS.length)]!]
  const levels = [
    ['INFO', 9],
    ['DEBUG', 5],
    ['WARN', 13],
    ['ERROR', 17],
  ] as const
  const [severityText, severityNumber] = levels[kind % 10 < 6 ? 0 : kind % 10 < 8 ? 1 : (kind % 10) - 6]!
  const stringValue = `${verb} ${thing} ${random.below(1e6)} of user ${random.below(9e4)} in ${random.below(900)} ms, session=${random.hex(16)}`
  Object.assign(record, { severityText, severityNumber, body: { stringValue } })
}

function cut(text: string): Template {
  const document = JSON.parse(text) as Readonly<Record<string, string>>
  const session = /(?:session=|ord-)([0-9a-f]{8,16})/.exec(document['message']!)?.[1]
  const cuts = (
    [
      ['timestamp', document['timestamp']],
      ['unixNano', document['time_unix_nano']],
      ['id', document['log_id']],
      ['trace', document['trace_id']],
      ['span', document['span_id']],
      ['session', session],
    ] as const
  ).flatMap(([slot, value]) =>
    value === undefined ? [] : [{ slot: slot as Template['slots'][number], at: text.indexOf(value), length: value.length }],
  )
  const nanos = /"nanos":(\d+)/.exec(text)!
  const sorted = [...cuts, { slot: 'nanos' as const, at: nanos.index + 8, length: nanos[1]!.length }].sort((a, b) => a.at - b.at)
  let from = 0
  const parts: string[] = []
  for (const { at, length } of sorted) {
    parts.push(text.slice(from, at))
    from = at + length
  }
  return { parts: [...parts, text.slice(from)], slots: sorted.map(({ slot }) => slot) }
}

/** Sends the records to the store at the address `search`; resolves to records a second. */
export async function fillStore(search: string, records: number, endMs: number): Promise<number> {
  const store = createSearchStore({ endpoint: search })
  for (const [name, template] of Object.entries(INDEX_TEMPLATES)) await store.putIndexTemplate(name, template)
  const startedMs = performance.now()
  const operations = dayOfOperations(records, endMs)
  const lane = async (): Promise<void> => {
    for (;;) {
      const bulk: BulkOperation[] = []
      for (let next = operations.next(); ; next = operations.next()) {
        if (next.done === true) break
        bulk.push(next.value)
        if (bulk.length === RECORDS_PER_BULK) break
      }
      if (bulk.length === 0) return
      const failed = (await store.bulk(bulk)).find(outcome => outcome.status !== 'done')
      if (failed !== undefined) throw new Error(JSON.stringify(failed))
    }
  }
  await Promise.all(Array.from({ length: BULKS_AT_ONCE }, lane))
  await store.close()
  return Math.round((records * 1000) / (performance.now() - startedMs))
}

/** The same into the data directory of a standalone that does not run. */
export async function fillDirectory(dataDir: string, records: number, endMs: number): Promise<number> {
  const server = createSearchServer({
    dir: join(dataDir, 'search'),
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: { info() {}, warn: console.warn, error: console.error },
  })
  await server.start()
  try {
    return await fillStore(`http://127.0.0.1:${server.address!.port}`, records, endMs)
  } finally {
    await server.stop()
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      records: { type: 'string', default: '5000000' },
      end: { type: 'string', default: new Date().toISOString() },
    },
  })
  const perSecond = await fillDirectory(resolve(values.dir!), Number(values.records), Date.parse(values.end))
  console.log(`${values.records} records, ${perSecond} a second`)
}
