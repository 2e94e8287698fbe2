import { compressionsAlgorithms } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { BusRecord } from '../../../../ports/bus.ts'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { readBatches, readRecords } from '../batches/read-batch.ts'
import { withDefaults } from '../both-clients/kafka-config.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createProduce } from './idempotent-producer.ts'
import type { EncodedBatch } from './produce-request.ts'
import { TopicCompressions } from './topic-compressions.ts'

const NAMES = new Map([{ bitmask: 0, name: 'none' }, ...named('zstd'), ...named('lz4')].map(({ bitmask, name }) => [bitmask, name]))
const TOPIC = { name: 'logs', partitions: 2, maxMessageBytes: 1 << 20, compressionType: 'producer' }

function named(name: 'zstd' | 'lz4') {
  return [{ bitmask: compressionsAlgorithms[name].bitmask, name }]
}

const codecOf = ({ bytes }: EncodedBatch) => NAMES.get(bytes.readInt16BE(21) & 7)!
const sequenceOf = ({ bytes }: EncodedBatch) => bytes.readInt32BE(53)

describe('the compression that Kafka takes', () => {
  /** `refuse`: the error code for a batch, 0 where it is taken. */
  const build = (refuse: (codec: string, partition: number, attempt: number) => number, compressionType = 'producer') => {
    const requests: string[][] = []
    const written: { partition: number; sequence: number; values: string[] }[] = []
    const warnings: object[] = []
    const ignore = () => undefined
    const log = { info: ignore, error: ignore, warn: (fields: object) => void warnings.push(fields) }
    const clock = createFakeClock()
    const settings = { ...withDefaults({ brokers: [], topics: [], clock }), log }
    const ask = async (_leader: number, _lane: string, _apis: unknown, _topic: string, batches: readonly EncodedBatch[]) => {
      const codes = batches.map((batch): readonly [number, number] => {
        const errorCode = refuse(codecOf(batch), batch.partition, requests.length)
        if (errorCode === 0) written.push({ partition: batch.partition, sequence: sequenceOf(batch), values: valuesOf(batch) })
        return [batch.partition, errorCode]
      })
      requests.push(batches.map(batch => `${batch.partition} ${codecOf(batch)} ${sequenceOf(batch)}`))
      return new Map(codes)
    }
    const cluster = {
      settings,
      isClosed: false,
      deadlineMs: () => clock.nowMs() + 9_000,
      retry: (_deadlineMs: number, _doing: string, work: () => unknown) => work(),
      askAny: async () => ({ producerId: 7n, producerEpoch: 0 }),
      topic: () => ({ id: 'id', leaders: [1, 1], leaderEpochs: [0, 0] }),
      refresh: async () => undefined,
      ask,
    } as unknown as Cluster
    const layouts = new Map([['logs', { ...TOPIC, compressionType }]])
    const produce = createProduce({ cluster, compressions: new TopicCompressions(log, layouts) })
    const send = (...partitions: number[]) => produce('logs', new Map(partitions.map(partition => [partition, records(partition)])))
    return { requests, written, warnings, send }
  }

  const records = (partition: number): readonly BusRecord[] =>
    Array.from({ length: 3 }, (_, i) => ({ key: 'tenant/service', value: Buffer.alloc(20_000, `${partition}${i}`) }))
  const valuesOf = ({ bytes }: EncodedBatch) => {
    const into: Parameters<typeof readRecords>[3] = []
    for (const batch of readBatches(bytes)) readRecords(batch, { topic: 'logs', partition: 0 }, 0, into)
    return into.map(({ value }) => Buffer.from(value).toString('latin1', 0, 2))
  }

  it('is zstd, or lz4 where the topic is kept in lz4', async () => {
    for (const [compressionType, codec] of [
      ['producer', 'zstd'],
      ['zstd', 'zstd'],
      ['gzip', 'zstd'],
      ['lz4', 'lz4'],
    ] as const) {
      const { requests, send } = build(() => 0, compressionType)
      await send(0)
      expect(requests).to.deep.equal([[`0 ${codec} 0`]])
    }
  })

  for (const [name, code] of [
    ['UNSUPPORTED_COMPRESSION_TYPE', 76],
    ['UNKNOWN_SERVER_ERROR', -1],
  ] as const)
    it(`is lz4 after ${name}: the same records under the same numbers, and so from then on`, async () => {
      const { requests, written, warnings, send } = build(codec => (codec === 'zstd' ? code : 0))
      await send(0, 1)
      await send(0)
      expect(requests).to.deep.equal([['0 zstd 0', '1 zstd 0'], ['0 lz4 0', '1 lz4 0'], ['0 lz4 3']])
      expect(written.map(({ values }) => values)).to.deep.equal([
        ['00', '01', '02'],
        ['10', '11', '12'],
        ['00', '01', '02'],
      ])
      expect(warnings).to.deep.equal([{ topic: 'logs', refused: 'zstd', problem: `partition 1: ${name}`, compression: 'lz4' }])
    })

  it('is none where lz4 is refused, too', async () => {
    const { requests, send } = build(codec => (codec === 'none' ? 0 : 76))
    await send(0)
    await send(1)
    expect(requests).to.deep.equal([['0 zstd 0'], ['0 lz4 0'], ['0 none 0'], ['1 none 0']])
  })

  it('concerns those batches alone that are not written', async () => {
    const { requests, send } = build((codec, partition) => (codec === 'zstd' && partition === 1 ? 76 : 0))
    await send(0, 1)
    expect(requests).to.deep.equal([['0 zstd 0', '1 zstd 0'], ['1 lz4 0']])
  })

  it('is left as it was where the error has to do with something else', async () => {
    const { requests, warnings, send } = build((_codec, _partition, attempt) => (attempt < 2 ? -1 : 0))
    const failure = await send(0).catch((error: unknown) => error)
    expect(failure).to.be.an('error').with.property('message').that.contains('UNKNOWN_SERVER_ERROR')
    await send(0)
    expect(requests).to.deep.equal([['0 zstd 0'], ['0 lz4 0'], ['0 zstd 0']])
    expect(warnings).to.deep.equal([])
  })
})
