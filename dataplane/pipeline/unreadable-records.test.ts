import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { BusRecord, ConsumedRecord } from '../ports/bus.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import type { Work } from './runners/work.ts'
import { givingUpUnreadable } from './unreadable-records.ts'

const record = (offset: number, unreadable?: string): ConsumedRecord => ({
  ...{ topic: 'raw-logs', partition: 2, offset, timestampMs: 5, key: unreadable === undefined ? 'shop/cart' : '' },
  ...{ value: Buffer.from(`bytes ${offset}`), headers: {} },
  ...(unreadable !== undefined && { unreadable }),
})

function build(memory?: Work['memory']) {
  const handled: number[][] = []
  const sent: BusRecord[] = []
  const counted: unknown[] = []
  const work: Work = {
    subscription: { groupId: 'g', topics: ['raw-logs'] },
    limits: { maxRecords: 10, maxBytes: 1_000, waitMs: 10 },
    ...(memory !== undefined && { memory }),
    async handle(records) {
      handled.push(records.map(({ offset }) => offset))
      return () => counted.push('work')
    },
  }
  const output = { send: async (_: string, records: readonly BusRecord[]) => void sent.push(...records) }
  const letters = { topic: 'dead-letter-queue', stage: 'etl' as const, clock: createFakeClock(0), log: SILENT }
  const countDeadLetters = (...count: unknown[]) => counted.push(count)
  return { handled, sent, counted, output, work: givingUpUnreadable(work, { ...letters, countDeadLetters }) }
}

describe('records that the bus could not read', () => {
  it('become dead letters, and those around them are worked on', async () => {
    const { work, output, handled, sent, counted } = build()
    const afterCommit = await work.handle([record(1), record(9, 'too much comes out'), record(10)], output)
    expect(handled).to.deep.equal([[1, 10]])
    expect(sent.map(({ value }) => String(value))).to.deep.equal(['bytes 9'])
    expect(sent[0]!.headers).to.include({ 'dlq.topic': 'raw-logs', 'dlq.partition': '2', 'dlq.offset': '9', 'dlq.stage': 'etl' })
    expect(sent[0]!.headers).to.include({ 'dlq.reason': 'too much comes out', 'dlq.cut': '7' })
    afterCommit?.()
    expect(counted).to.deep.equal(['work', ['etl', '', 1]])
  })

  it('alone in a batch are not handed to the work', async () => {
    const { work, output, handled, sent } = build()
    await work.handle([record(9, 'no')], output)
    expect(handled).to.deep.equal([])
    expect(sent).to.have.length(1)
  })

  it('fill no memory when they are read again', async () => {
    const restored: number[] = []
    const memory = {
      records: 5,
      weigh: ({ offset }: ConsumedRecord) => offset,
      reset: () => undefined,
      restore: async (records: readonly ConsumedRecord[]) => void restored.push(...records.map(({ offset }) => offset)),
    }
    const { work } = build(memory)
    await work.memory!.restore([record(1), record(2, 'no'), record(3)])
    expect(restored).to.deep.equal([1, 3])
    expect([record(3), record(4, 'no')].map(message => work.memory!.weigh!(message))).to.deep.equal([3, 0])
  })
})
