import { expect } from 'chai'
import { describe, it } from 'mocha'
import { CreationPacker, unpackBulk } from '../../bulk-port/packed-bulk.ts'
import { NO_ANOMALY } from '../../domain/documents/document.ts'
import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import type { FlatRow } from '../flat-row.ts'
import type { Outcome, StepInput } from '../outcome.ts'
import { createDetector } from './detect.ts'
import { createEtl } from './flatten/etl.ts'
import { EtlOutput } from './flatten/etl-output.ts'
import { createDocumentBuilder, type DocumentBuilder, type LogDocument } from './index-documents.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)

const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })

function messageOf(attributes: Readonly<Record<string, string>>, severityText: string, text: string): Buffer {
  const pairs = Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))
  const record = { timeUnixNano: `${NOW_MS}000000`, severityText, body: { stringValue: text }, attributes: pairs }
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] }
  return Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] }))
}

function rowsOf(attributes: Readonly<Record<string, string>>, severityText: string, text: string): readonly FlatRow[] {
  const output = new EtlOutput()
  for (const _ of etl.processInParts({ value: messageOf(attributes, severityText, text), receivedAtMs: NOW_MS, key: '' }, output));
  return output.rows
}

function input(attributes: Readonly<Record<string, string>>, severityText = 'INFO', text = 'größe 5'): StepInput {
  const [first] = etl.process(messageOf(attributes, severityText, text), NOW_MS).records
  return { key: first!.key, value: first!.value, headers: first!.headers ?? {} }
}

function emitted(outcome: Outcome<LogDocument>): LogDocument {
  if (outcome.kind !== 'emit') throw new Error(outcome.reason)
  return outcome.value
}

const json = (body: string | Uint8Array | undefined) => JSON.parse(typeof body === 'string' ? body : Buffer.from(body!).toString())

function eventOf(from: StepInput): StepInput {
  const outcome = createDetector({ anomalyThreshold: 2.5, windowSize: 50 }).process(from)
  if (outcome.kind !== 'emit') throw new Error('no anomaly')
  const { key, value, headers = {} } = outcome.value.event
  return { key, value, headers }
}

describe('the bridge indexes every enriched log', () => {
  it('with bulk create into the daily index, under the document id', () => {
    const from = input({ 'user.id': '7' })
    const { tenant, operation } = emitted(createDocumentBuilder().log(from))
    const record = json(from.value)
    expect({ tenant, ...operation, body: undefined }).to.deep.equal({
      tenant: 'default',
      action: 'create',
      index: 'service-logs-2026.11.21',
      id: record.document_id,
      body: undefined,
      idTellsTime: true,
    })
    expect(json(operation.body)).to.deep.equal({
      timestamp: '2026-11-21T12:00:00.000Z',
      nanos: 0,
      time_unix_nano: `${NOW_MS}000000`,
      log_id: record.log_id,
      tenant_id: 'default',
      service: 'checkout',
      level: 'INFO',
      severity_number: 9,
      message: 'größe 5',
      pattern_id: record.pattern_id,
      pattern: 'größe <*>',
      ml_error_rate_1h: 0,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 0,
      ml_anomaly_history_count: 0,
      enriched: true,
      anomaly_score: 0,
      is_anomaly: false,
      'user.id': '7',
      severity_text: 'INFO',
      attributes: { 'service.name': 'checkout' },
    })
  })

  const attributeSets = [
    {},
    { 'user.id': '7' },
    { level: 'x' },
    { 'user.id': '7', 'host.name': 'h', 'is.anomaly': 'yes', é: 'ü' },
    { 'a..b': '1' },
  ]
  for (const attributes of attributeSets)
    it(`builds the same by copying and from JSON: ${JSON.stringify(attributes)}`, () => {
      const from = input(attributes)
      const copied = emitted(createDocumentBuilder().log(from)).operation
      const parsed = emitted(createDocumentBuilder().log({ ...from, headers: {} })).operation
      expect(json(copied.body)).to.deep.equal(json(parsed.body))
      expect({ ...copied, body: '' }).to.deep.equal({ ...parsed, body: '' })
    })

  const rowTexts = ['plain', 'größe 5', 'a "quoted" word \\ and\na line', '']
  for (const attributes of attributeSets)
    it(`packs the documents of rows as it builds them: ${JSON.stringify(attributes)}`, () => {
      const rows = rowTexts.flatMap(text => rowsOf(attributes, 'ERROR', text))
      const [building, packing] = [createDocumentBuilder(), createDocumentBuilder()]
      const packer = new CreationPacker(Buffer.allocUnsafeSlow(10_000), rows.length)
      const flags = [NO_ANOMALY, { anomaly_score: 3.25, rule_score: 0.5, is_anomaly: true }]
      const homes = rows.map((row, i) => packing.pack(row, flags[i % 2]!, packer))
      const built = rows.map((row, i) => emitted(building.log(row, flags[i % 2])))
      const bulk = packer.packed()
      const idTellsTime = bulk.idsTellTimes
      const packed = unpackBulk(bulk).map(({ action, index, id, body }) => ({ action, index, id, body: body.toString(), idTellsTime }))
      expect(packed).to.deep.equal(built.map(({ operation }) => ({ ...operation, body: Buffer.from(operation.body).toString() })))
      expect(homes.map(home => home?.tenant)).to.deep.equal(built.map(({ tenant }) => tenant))
    })

  it('packs the folded form of a document that the store refused before', () => {
    const [row] = rowsOf({ 'user.id': '7' }, 'INFO', 'refused')
    const builder = createDocumentBuilder()
    const folded = builder.fold(emitted(builder.log(row!)).operation)
    const packer = new CreationPacker(Buffer.allocUnsafeSlow(10_000), 1)
    builder.pack(row!, NO_ANOMALY, packer)
    expect(json(unpackBulk(packer.packed())[0]!.body)).to.deep.equal(json(folded.body))
  })

  it('packs no document that has no room', () => {
    const [row] = rowsOf({ 'user.id': '7' }, 'INFO', 'long')
    expect(createDocumentBuilder().pack(row!, NO_ANOMALY, new CreationPacker(Buffer.allocUnsafeSlow(200), 1))).to.equal(undefined)
  })

  it('folds a tenant’s 301st distinct custom key of a day', () => {
    const builder = createDocumentBuilder()
    for (let i = 0; i < 300; i++) builder.log(input({ [`k${i}`]: 'x' }))
    const document = json(emitted(builder.log(input({ k1: 'known', extra: 'new' }))).operation.body)
    expect(document).to.deep.include({ k1: 'known', attributes: { 'service.name': 'checkout', extra: 'new' } })
    expect(json(emitted(builder.log(input({ k2: 'known' }))).operation.body)).to.include({ k2: 'known' })
  })

  it('a key that continues one of the tenant’s day stands in attributes, alone: the others stay fields', () => {
    const builder = createDocumentBuilder()
    expect(json(emitted(builder.log(input({ error: 'refused' }))).operation.body)).to.include({ error: 'refused' })
    for (const key of ['error.type', 'error.type.name']) {
      const document = json(emitted(builder.log(input({ [key]: 'E', 'user.id': '7' }))).operation.body)
      expect(document).to.deep.include({ 'user.id': '7', attributes: { 'service.name': 'checkout', [key]: 'E' } })
    }
  })

  it('a key that the index has otherwise, by another tenant or from before a restart, stands in attributes, alone, once the store has refused it', async () => {
    const search = await startEmbeddedSearchStore()
    try {
      await putIndexTemplates(search.store)
      const write = async (builder: DocumentBuilder, attributes: Readonly<Record<string, string>>, text: string) => {
        const { operation } = emitted(builder.log(input(attributes, 'INFO', text)))
        const [outcome] = await search.store.bulk([operation])
        return { operation, outcome, document: json(operation.body) }
      }
      const other = createDocumentBuilder()
      await write(other, { error: 'refused' }, 'one')
      await write(other, { 'user.id': '7' }, 'two')
      // A list of keys that was admitted whole, and one that was not.
      for (const rest of [{ order: '1' }, { order: '1', 'order.id': '2' }])
        for (const key of ['error.type', 'user']) {
          const told = createDocumentBuilder()
          const attributes = { [key]: 'E', ...rest }
          const first = await write(told, attributes, 'three')
          if (first.outcome?.status !== 'refused') throw new Error(`taken: ${key}`)
          told.fold(first.operation, first.outcome.reason)
          for (const text of ['four', 'five']) {
            const { outcome, document } = await write(told, attributes, `${text} ${Object.keys(attributes)}`)
            expect(outcome, key).to.include({ status: 'done' })
            expect(document, key).to.include({ order: '1' }).and.not.to.have.property(key)
            expect(document.attributes, key).to.include({ [key]: 'E' })
          }
        }
    } finally {
      await search.stop()
    }
  })

  it('folds all custom attributes when the store refused the document', () => {
    const builder = createDocumentBuilder()
    const folded = builder.fold(emitted(builder.log(input({ 'user.id': '7' }))).operation)
    expect(json(folded.body)).to.deep.include({
      message: 'größe 5',
      attributes: { 'user.id': '7', severity_text: 'INFO', 'service.name': 'checkout' },
    })
    expect(json(folded.body)).to.not.have.property('user.id')
    expect(folded.action).to.equal('create')
  })

  describe('attributes that records have in common', () => {
    const operationOf = (builder: ReturnType<typeof createDocumentBuilder>, from: StepInput) => emitted(builder.log(from)).operation

    it('that the store refused are folded at once in the records behind, in no other and not for ever', () => {
      const builder = createDocumentBuilder()
      const refused = input({ 'user.id': 'x', a: 'é' })
      const folded = json(builder.fold(operationOf(builder, refused)).body)
      const next = json(operationOf(builder, input({ 'user.id': 'x', a: 'é' }, 'INFO', 'another text')).body)
      expect(next).to.deep.equal({ ...folded, ...next, message: 'another text' })
      expect(next).to.not.have.property('user.id')
      expect(json(operationOf(builder, input({ 'user.id': 'y', a: 'é' })).body)).to.include({ 'user.id': 'y' })
      const event = eventOf(input({ 'user.id': 'x', a: 'é' }, 'FATAL'))
      expect(json(emitted(builder.flags(event)).operation.upsert)).to.include({ 'user.id': 'x', severity_text: 'FATAL' })
      const flagged = emitted(builder.flags(eventOf(input({ 'user.id': 'x' }, 'FATAL')))).operation
      const [first, second] = [builder.fold(flagged), builder.fold(flagged)]
      expect(json(first.upsert)).to.deep.equal(json(second.upsert))
      expect(json(first.upsert)).to.include({ is_anomaly: true }).and.not.have.property('user.id')
      let tries = 0
      while (json(operationOf(builder, refused).body)['user.id'] === undefined) expect(tries++).to.be.below(2_000)
      expect(tries).to.be.above(500)
    })

    it('that do not all find room as fields are placed the same in every record', () => {
      const builder = createDocumentBuilder()
      for (let i = 0; i < 300; i++) builder.log(input({ [`k${i}`]: 'x' }))
      const own = { k1: 'known', extra: 'new', 'host.name': 'h' }
      for (const text of ['one', 'two', 'three']) {
        const document = json(operationOf(builder, input(own, 'INFO', text)).body)
        expect(document).to.deep.include({ message: text, k1: 'known' })
        expect(document.attributes).to.deep.equal({ 'service.name': 'checkout', extra: 'new', 'host.name': 'h' })
      }
    })
  })

  it('what cannot be read goes to the dead-letter queue', () => {
    expect(createDocumentBuilder().log({ key: 'a/b', value: Buffer.from('nope'), headers: {} }).kind).to.equal('deadLetter')
  })
})

describe('the anomaly flags are written by update with the full document as upsert', () => {
  const from = input({ 'user.id': '7' }, 'FATAL', 'OOM')
  for (const [name, event] of [
    ['with headers', eventOf(from)],
    ['without headers', { ...eventOf(from), headers: {} }],
  ] as const)
    it(name, () => {
      const { operation } = emitted(createDocumentBuilder().flags(event))
      const log = emitted(createDocumentBuilder().log(from)).operation
      expect({ action: operation.action, index: operation.index, id: operation.id }).to.deep.equal({
        action: 'update',
        index: log.index,
        id: log.id,
      })
      expect(json(operation.body)).to.deep.equal({ anomaly_score: 0, rule_score: 0.8, is_anomaly: true })
      expect(json(operation.upsert)).to.deep.equal({ ...json(log.body), rule_score: 0.8, is_anomaly: true })
    })

  it('folded as well when refused', () => {
    const builder = createDocumentBuilder()
    const folded = builder.fold(emitted(builder.flags(eventOf(from))).operation)
    expect(json(folded.upsert)).to.have.nested.property('attributes.user\\.id', '7')
    expect(json(folded.body)).to.deep.equal({ anomaly_score: 0, rule_score: 0.8, is_anomaly: true })
    expect(json(folded.upsert)).to.include({ rule_score: 0.8 })
  })

  it('what cannot be read goes to the dead-letter queue', () => {
    expect(createDocumentBuilder().flags({ key: 'a/b', value: Buffer.from('{}'), headers: {} }).kind).to.equal('deadLetter')
  })
})
