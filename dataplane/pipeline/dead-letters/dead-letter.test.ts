import { expect } from 'chai'
import { describe, it } from 'mocha'
import { BusError, type BusRecord, type ConsumedRecord } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { collectDeadLetters, MAX_LETTER_KEY } from './dead-letter.ts'

const record: ConsumedRecord = {
  topic: 'raw-logs',
  partition: 3,
  offset: 41,
  timestampMs: 0,
  key: 'shop/cart',
  value: Buffer.from('all of it'),
  headers: {},
}

describe('a dead-letter message', () => {
  const sent: { topic: string; records: readonly BusRecord[] }[] = []
  const bus = { send: async (topic: string, records: readonly BusRecord[]) => void sent.push({ topic, records }) }
  const clock = createFakeClock(Date.UTC(2026, 10, 21))
  const collect = () => collectDeadLetters({ bus, topic: 'dead-letter-queue', stage: 'etl', clock, log: SILENT })

  it('keeps the original bytes, topic, partition, offset, the reason and the time', async () => {
    const dead = collect()
    dead.add(record, 'not JSON')
    dead.add(record, 'x'.repeat(5_000), Buffer.from('a part'))
    await dead.send()
    const [{ topic, records } = { topic: '', records: [] }] = sent.splice(0)
    expect(topic).to.equal('dead-letter-queue')
    expect(records.map(({ key, value }) => `${key} ${Buffer.from(value)}`)).to.deep.equal(['shop/cart all of it', 'shop/cart a part'])
    expect(records[0]!.headers).to.deep.equal({
      'dlq.topic': 'raw-logs',
      'dlq.partition': '3',
      'dlq.offset': '41',
      'dlq.stage': 'etl',
      'dlq.reason': 'not JSON',
      'dlq.time': '2026-11-21T00:00:00.000Z',
      'dlq.received': '0',
    })
    expect(records[1]!.headers!['dlq.reason']).to.have.length(2_000)
  })

  it('is not sent for a batch without any', async () => {
    await collect().send()
    expect(sent).to.deep.equal([])
  })

  it('fits whatever the key and the headers of the record hold: they are bounded, and the value is kept', async () => {
    const taken: BusRecord[] = []
    const small = {
      async send(_: string, records: readonly BusRecord[]) {
        for (const { key, value, headers } of records)
          if (3 * key.length + value.length + 3 * JSON.stringify(headers).length > 100_000) throw new BusError('record-too-large', 'no')
        taken.push(...records)
      },
    }
    const dead = collectDeadLetters({ bus: small, topic: 'dead-letter-queue', stage: 'etl', clock, log: SILENT })
    dead.add({ ...record, key: `shop/${'c'.repeat(90_000)}`, headers: { 'dlq.replayed': '2'.repeat(90_000) } }, 'not JSON')
    await dead.send()
    expect(taken.map(({ key, value }) => [key.slice(0, 6), key.length, String(value)])).to.deep.equal([
      ['shop/c', MAX_LETTER_KEY, 'all of it'],
    ])
    expect(taken[0]!.headers).to.not.have.property('dlq.replayed')
  })

  it('says when its record was replayed before', async () => {
    const dead = collect()
    dead.add({ ...record, headers: { 'dlq.replayed': '2026-11-20T00:00:00.000Z' } }, 'not JSON')
    await dead.send()
    expect(sent.splice(0)[0]!.records[0]!.headers).to.include({ 'dlq.replayed': '2026-11-20T00:00:00.000Z' })
  })
})
