import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KeyValue } from '../../otlp/payload.ts'
import { BusError, type BusRecord, type ConsumedRecord } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createRecordingBus } from '../../testing/recording-bus.ts'
import { MAX_LETTER_BYTES } from '../dead-letters/dead-letter.ts'
import type { FeatureCache } from '../features/feature-cache.ts'
import type { Output } from '../runners/work.ts'
import { MAX_ETL_PART_BYTES } from './etl-batch.ts'
import { createEtlWork } from './etl-work.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const TIME = `${NOW_MS}000001`
const SETTINGS = {
  RAW_TOPIC: 'raw-logs',
  ENRICHED_TOPIC: 'enriched-logs',
  DEAD_LETTER_TOPIC: 'dead-letter-queue',
  RETENTION_DAYS: 30,
  DEFAULT_TENANT: 'default',
}

const NO_FEATURES: FeatureCache = { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined }

function newWork(counted: Record<string, number> = {}, features = NO_FEATURES) {
  return createEtlWork({
    settings: SETTINGS,
    features,
    standsBy: false,
    count: (counter, amount) => {
      counted[counter] = (counted[counter] ?? 0) + amount
    },
    countDeadLetters: (stage, tenant, letters) => {
      counted[`${stage}/${tenant}`] = (counted[`${stage}/${tenant}`] ?? 0) + letters
    },
    clock: createFakeClock(NOW_MS),
    log: SILENT,
  })
}

const consumed = (value: string | Uint8Array, offset = 0): ConsumedRecord => ({
  topic: 'raw-logs',
  partition: 0,
  offset,
  timestampMs: NOW_MS,
  key: 'acme/checkout',
  value: Buffer.from(value as string),
  headers: {},
})
const record = (text: string) => ({ timeUnixNano: TIME, body: { stringValue: text } })
const message = (logRecords: readonly unknown[], attributes: readonly KeyValue[] = []) =>
  JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] })
const sentTo = (bus: ReturnType<typeof createRecordingBus>, topic: string): BusRecord[] =>
  bus.sent.filter(sent => sent.topic === topic).map(sent => sent.record)
const textOf = ({ value }: BusRecord) => Buffer.from(value).toString()
const messagesOf = (records: readonly BusRecord[]) => records.map(flat => JSON.parse(textOf(flat)).message as string)

describe('ETL: features', () => {
  it('are looked up once those that were written before the batch are there', async () => {
    const bus = createRecordingBus()
    let rate = 0
    const features: FeatureCache = {
      ...NO_FEATURES,
      lookup: () => ({ ml_error_rate_1h: rate, ml_p99_latency_1h: 0, ml_request_rate_1h: 0, ml_anomaly_history_count: 0 }),
      async fresh() {
        await new Promise(resolve => setImmediate(resolve))
        rate = 0.3
      },
    }
    await newWork({}, features).handle([consumed(message([record('a')]))], bus)
    expect(sentTo(bus, 'enriched-logs').map(each => JSON.parse(textOf(each)).ml_error_rate_1h)).to.deep.equal([0.3])
  })
})

describe('ETL: tenants in one batch', () => {
  it('what a tenant brings that brings little is sent before that of one that brings much, each in its order', async () => {
    const bus = createRecordingBus()
    const ofTenant = (tenant: string, text: string, offset: number) => ({
      ...consumed(message([record(text)]), offset),
      key: `${tenant}/checkout`,
    })
    const much = 'x'.repeat(200_000)
    const messages = [
      ofTenant('loud', `1 ${much}`, 0),
      ofTenant('quiet', '2', 1),
      ofTenant('loud', `3 ${much}`, 2),
      ofTenant('quiet', '4', 3),
    ]
    await newWork().handle(messages, bus)
    expect(messagesOf(sentTo(bus, 'enriched-logs')).map(text => text[0])).to.deep.equal(['2', '4', '1', '3'])
    expect(bus.sendCount).to.equal(2)
  })
})

describe('ETL: no refusal of size fails a batch', () => {
  it('an accepted record whose parsed form would be several times its message: the letter has the original bytes', async () => {
    const bus = createRecordingBus()
    bus.limitRecords(2 * 1024 * 1024)
    const bad = `{"timeUnixNano":"now","unknown":[${Array.from({ length: 170_000 }, () => '9e20').join(',')}]}`
    const original = message(['BAD']).replace('"BAD"', bad)
    expect(original.length).to.be.greaterThan(800_000)
    await newWork().handle([consumed(original), consumed(message([record('neighbour')]), 1)], bus)
    const [letter, ...more] = sentTo(bus, 'dead-letter-queue')
    expect(more).to.deep.equal([])
    expect(textOf(letter!)).to.equal(original)
    expect(messagesOf(sentTo(bus, 'enriched-logs'))).to.deep.equal(['neighbour'])
  })

  it('a letter that does not fit is cut, with a note of it', async () => {
    const bus = createRecordingBus()
    const original = `{"resourceLogs":"${'x'.repeat(MAX_LETTER_BYTES)}`
    await newWork().handle([consumed(original)], bus)
    const [letter] = sentTo(bus, 'dead-letter-queue')
    expect(letter!.value.length).to.equal(MAX_LETTER_BYTES)
    expect(letter!.headers!['dlq.cut']).to.equal(String(original.length))
  })

  it('a letter that the bus refuses all the same is cut until it fits', async () => {
    const bus = createRecordingBus()
    bus.limitRecords(10_000)
    const original = `{"resourceLogs":"${'x'.repeat(500_000)}`
    await newWork().handle([consumed(original)], bus)
    const [letter] = sentTo(bus, 'dead-letter-queue')
    expect(letter!.value.length).to.be.within(1, 10_000)
    expect(letter!.headers!['dlq.cut']).to.equal(String(original.length))
  })

  it('a flat record that the bus refuses becomes a dead letter with its log record; the others go on in their order', async () => {
    for (const oneByOne of [false, true]) {
      const bus = createRecordingBus()
      bus.limitRecords(20_000)
      const counted: Record<string, number> = {}
      // A nested value goes the plain way, the others by bytes.
      const attributes = oneByOne ? [{ key: 'n', value: { kvlistValue: { values: [{ key: 'a', value: { intValue: 1 } }] } } }] : []
      const records = ['a', 'b', 'large', 'c', 'd'].map(text => ({
        ...record(text === 'large' ? `large${'x'.repeat(15_000)}` : text),
        ...(text === 'large' && { attributes: [{ key: 'k', value: { stringValue: 'y'.repeat(3_000) } }, ...attributes] }),
      }))
      const done = await newWork(counted).handle([consumed(message([record('first')])), consumed(message(records), 1)], bus)
      done?.()
      expect(messagesOf(sentTo(bus, 'enriched-logs'))).to.deep.equal(['first', 'a', 'b', 'c', 'd'])
      const [letter] = sentTo(bus, 'dead-letter-queue')
      expect(JSON.parse(textOf(letter!)).resourceLogs[0].scopeLogs[0].logRecords).to.deep.equal([records[2]])
      expect(letter!.headers!['dlq.reason']).to.match(/^flat record: \d+ bytes are more than the bus takes$/)
      expect(counted).to.include({ etlRecordsReceived: 6, etlProduced: 5, 'etl/acme': 1 })
    }
  })

  it('any other failure of the bus fails the batch', async () => {
    const bus = createRecordingBus()
    bus.failWith('unavailable')
    let failure: unknown
    await newWork()
      .handle([consumed(message([record('x')]))], bus)
      .catch(error => {
        failure = error
      })
    expect(failure).to.be.instanceOf(BusError)
  })
})

describe('ETL: a message that is no JSON as a whole', () => {
  const outcome = async (value: string) => {
    const bus = createRecordingBus()
    await newWork().handle([consumed(value)], bus)
    return { messages: messagesOf(sentTo(bus, 'enriched-logs')), letters: sentTo(bus, 'dead-letter-queue').map(textOf) }
  }
  const three = message([record('one'), record('two'), record('three')], [{ key: 'service.name', value: { stringValue: 's' } }])

  it('one broken record in the middle: its neighbours go on, its bytes are the letter', async () => {
    const broken = three.replace(`"timeUnixNano":"${TIME}","body":{"stringValue":"two"}`, '"observedTimeUnixNano":"0""1700"')
    const { messages, letters } = await outcome(broken)
    expect(messages).to.deep.equal(['one', 'three'])
    expect(letters).to.have.length(1)
    expect(letters[0]).to.contain('{"observedTimeUnixNano":"0""1700"}').and.to.contain('service.name').and.not.to.contain('three')
  })

  it('one that breaks off: the records before the break go on, the letter is the whole of it', async () => {
    const cut = three.slice(0, three.indexOf('three') + 2)
    expect(await outcome(cut)).to.deep.equal({ messages: ['one', 'two'], letters: [cut] })
  })

  it('something behind its end: the records go on, the letter is the whole of it', async () => {
    expect(await outcome(`${three}]}`)).to.deep.equal({ messages: ['one', 'two', 'three'], letters: [`${three}]}`] })
  })

  it('a broken resource: that of its records is a letter, the others go on', async () => {
    const good = three.slice('{"resourceLogs":['.length, -2)
    const bad = '{"resource":{"attributes":[,]},"scopeLogs":[{"logRecords":[{}]}]}'
    const { messages, letters } = await outcome(`{"resourceLogs":[${bad},${good}]}`)
    expect(messages).to.deep.equal(['one', 'two', 'three'])
    expect(letters).to.deep.equal([`{"resourceLogs":[${bad}]}`])
  })
})

describe('ETL: what one message becomes is bounded', () => {
  /** Sends are slow to settle: what is held is what was sent and not yet taken, and what is collected. */
  const measure = async (value: string) => {
    let bytes = 0
    let largest = 0
    let records = 0
    const output: Output = {
      async send(topic, sent) {
        const size = sent.reduce((sum, each) => sum + each.value.length, 0)
        largest = Math.max(largest, size)
        if (topic === 'enriched-logs') {
          bytes += size
          records += sent.length
        }
        await new Promise(resolve => setImmediate(resolve))
      },
    }
    const startMs = performance.now()
    await newWork().handle([consumed(value)], output)
    return { bytes, largest, records, ms: performance.now() - startMs }
  }
  const many = (count: number) => Array.from({ length: count }, (_, i) => record(String(i).padStart(60, 'x')))
  const text = (key: string, length: number): KeyValue => ({ key, value: { stringValue: 'v'.repeat(length) } })
  const nested = (depth: number): KeyValue['value'] =>
    depth === 0
      ? { stringValue: 'v'.repeat(200_000) }
      : { kvlistValue: { values: [{ key: 'p'.repeat(100), value: nested(depth - 1)! }, text('leaf', 5)] } }

  const resources: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[] = [
    { name: '250 KB in one attribute', attributes: [text('big', 250_000)] },
    { name: '250 KB in 5,000 attributes', attributes: Array.from({ length: 5_000 }, (_, i) => text(`key.${i}`, 10)) },
    {
      name: 'a list of 10,000 objects',
      attributes: [
        {
          key: 'list',
          value: { arrayValue: { values: Array.from({ length: 10_000 }, () => ({ kvlistValue: { values: [text('a', 1)] } })) } },
        },
      ],
    },
    { name: '90 maps inside each other', attributes: [{ key: 'deep', value: nested(90)! }] },
  ]
  for (const { name, attributes } of resources)
    it(`resource attributes above 2,000 records: ${name}`, async () => {
      const { bytes, largest, records, ms } = await measure(message(many(2_000), [text('service.name', 8), ...attributes]))
      expect(records).to.equal(2_000)
      expect(largest).to.be.lessThan(MAX_ETL_PART_BYTES + 2 * 1024 * 1024)
      expect(bytes).to.be.lessThan(40 * 1024 * 1024)
      expect(ms).to.be.lessThan(3_000)
    })

  it('a part of the records says what it lacks, and small attributes stay in all of them', async () => {
    const bus = createRecordingBus()
    await newWork().handle([consumed(message(many(2_000), [text('big', 250_000), text('small', 5)]))], bus)
    const flat = sentTo(bus, 'enriched-logs').map(each => JSON.parse(textOf(each)).attributes)
    expect(flat[0].big).to.have.length(250_000)
    expect(flat[1_999]).to.deep.equal({
      small: 'vvvvv',
      'logpipeline.cut.resource': '1 of 2 attributes of the resource are left out here; the first records of the same message have them',
    })
  })

  it('bad records below a large resource: letters of their own at first, then one for all the others', async () => {
    const bus = createRecordingBus()
    const bad = Array.from({ length: 5_000 }, (_, i) => ({ timeUnixNano: `no time ${i}` }))
    const original = message(bad, [text('big', 250_000)])
    const counted: Record<string, number> = {}
    const done = await newWork(counted).handle([consumed(original)], bus)
    done?.()
    const letters = sentTo(bus, 'dead-letter-queue')
    const records = letters.flatMap(letter => JSON.parse(textOf(letter)).resourceLogs[0].scopeLogs[0].logRecords)
    expect(records).to.deep.equal(bad)
    expect(letters.reduce((sum, { value }) => sum + value.length, 0)).to.be.lessThan(5 * 1024 * 1024)
    expect(letters.at(-1)!.headers!['dlq.reason']).to.match(/^timeUnixNano.*"no time \d+".*\(the first of \d+ in this letter\)$/)
    expect(counted['etlRecordsReceived']).to.equal(5_000)
  })

  it('a resource with many scopes is flattened once', async () => {
    const scopeLogs = Array.from({ length: 3_000 }, (_, i) => ({ scope: { name: `s${i}` }, logRecords: [record('x')] }))
    const value = JSON.stringify({ resourceLogs: [{ resource: { attributes: resources[1]!.attributes }, scopeLogs }] })
    const { records, ms } = await measure(value)
    expect(records).to.equal(3_000)
    expect(ms).to.be.lessThan(3_000)
  })

  it('batches that overlap do not mix: each goes through the ETL on its own, in order', async () => {
    const bus = createRecordingBus()
    const work = newWork()
    const batch = (name: string) => consumed(message(Array.from({ length: 9_000 }, (_, i) => record(`${name}${i}${'x'.repeat(900)}`))))
    await Promise.all(['a', 'b', 'c'].map(name => work.handle([batch(name)], bus)))
    const sent = messagesOf(sentTo(bus, 'enriched-logs')).map(each => each.replace(/x+$/, ''))
    expect(sent).to.deep.equal(['a', 'b', 'c'].flatMap(name => Array.from({ length: 9_000 }, (_, i) => `${name}${i}`)))
    expect(bus.sendCount).to.be.greaterThan(3)
  })
})
