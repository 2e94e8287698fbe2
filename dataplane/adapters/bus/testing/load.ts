/** A load of numbered records, its readers, and whether each record came once and in order. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Bus, ConsumedRecord, Subscription } from '../../../ports/bus.ts'
import { nextOffsets, record, textOf } from './records.ts'

const KEYS = 9
export const POLL = { maxRecords: 200, maxBytes: 1 << 20, waitMs: 50 }

/** The fate of the records of a load. */
export interface Sent {
  readonly acknowledged: { readonly key: string; readonly text: string }[]
  readonly refused: { readonly text: string; readonly why: string }[]
}

export const keyOf = (number: number) => `key ${number % KEYS}`

/** Sends small batches all the time, without waiting for one before the next; until it is stopped, or `test` ends without that. */
export function startLoad(bus: Bus, topic: string, test: AbortSignal) {
  const sent: Sent = { acknowledged: [], refused: [] }
  let number = 0
  let isStopping = false
  const underWay = new Set<Promise<void>>()
  const loop = async () => {
    while (!isStopping && !test.aborted) {
      const batch = Array.from({ length: 10 }, () => ({ key: keyOf(number), text: `${number++}` }))
      const sending = bus
        .send(
          topic,
          batch.map(({ key, text }) => record(key, text)),
        )
        .then(
          () => void sent.acknowledged.push(...batch),
          (error: Error) => void sent.refused.push(...batch.map(({ text }) => ({ text, why: error.message }))),
        )
      underWay.add(sending)
      void sending.then(() => underWay.delete(sending))
      await sleep(20)
    }
  }
  const done = loop()
  return {
    async stop(): Promise<Sent> {
      isStopping = true
      await done
      await Promise.all(underWay)
      return sent
    },
  }
}

/** A member that works on what it polls, and commits it; what it could not commit, others get again. */
export function startReader(subscription: Subscription, test: AbortSignal) {
  const read: ConsumedRecord[] = []
  let isStopping = false
  const loop = async () => {
    while (!isStopping && !test.aborted) {
      const records = await subscription.poll(POLL)
      if (records.length === 0) continue
      read.push(...records.map(polled => ({ ...polled, value: Buffer.from(polled.value) }))) // views only until the commit
      await sleep(5)
      await subscription.commit(nextOffsets(records)).catch(() => undefined) // worked on again, elsewhere
    }
  }
  const done = loop()
  const leave = async () => {
    isStopping = true
    await done
    await subscription.close()
    return read
  }
  return {
    leave,
    /** Leaves once all that was acknowledged is read, and a little later; or after half a minute. */
    async stop({ acknowledged }: Sent, alsoRead: readonly ConsumedRecord[] = []) {
      for (const deadlineMs = Date.now() + 30_000; !includesAll([...read, ...alsoRead], acknowledged) && Date.now() < deadlineMs; )
        await sleep(200)
      await sleep(500)
      return leave()
    },
  }
}

interface Expectation {
  readonly mayRepeat: boolean
  readonly isOrdered?: boolean
}

/** Every acknowledged record is there; once, and in the order of its key, as far as is promised. Those refused may be there or not. */
export function expectExactly(sent: Sent, read: readonly ConsumedRecord[], { mayRepeat, isOrdered = true }: Expectation): void {
  const counts = new Map<string, number>()
  for (const text of read.map(textOf)) counts.set(text, (counts.get(text) ?? 0) + 1)
  const uncertain = new Set(sent.refused.map(({ text }) => text))
  expect(sent.acknowledged.length, 'acknowledged').to.be.above(500)
  expect(
    sent.acknowledged.filter(({ text }) => !counts.has(text)).map(({ text }) => text),
    'lost',
  ).to.deep.equal([])
  if (mayRepeat) return
  const repeated = [...counts].filter(([text, count]) => count > 1 && !uncertain.has(text)).map(([text]) => text)
  expect(repeated, 'twice').to.deep.equal([])
  if (!isOrdered) return
  for (const [key, records] of Map.groupBy(read, r => r.key)) {
    const numbers = records
      .map(textOf)
      .filter(text => !uncertain.has(text))
      .map(Number)
    expect(numbers, `order of ${key}`).to.deep.equal(numbers.toSorted((a, b) => a - b))
  }
}

/** The records in the log, read by a group of its own: all that was acknowledged and all else up to the ends, or as much as came within half a minute. */
export async function readLog(
  bus: Bus,
  topic: { readonly name: string; readonly group: string },
  { acknowledged }: Sent,
): Promise<readonly ConsumedRecord[]> {
  const ends = (await bus.describe()).partitions.filter(({ endOffset }) => endOffset > 0)
  const subscription = await bus.subscribe({ groupId: `${topic.group}-log`, topics: [topic.name] })
  const read: ConsumedRecord[] = []
  const isAtEnd = () => {
    const next = nextOffsets(read)
    return ends.every(({ partition, endOffset }) => next.some(reached => reached.partition === partition && reached.offset >= endOffset))
  }
  const isComplete = () => isAtEnd() && includesAll(read, acknowledged)
  for (const deadlineMs = Date.now() + 30_000; !isComplete() && Date.now() < deadlineMs; ) read.push(...(await subscription.poll(POLL)))
  return read
}

/** Also when more was read: what was refused may have been written. */
export function includesAll(read: readonly ConsumedRecord[], acknowledged: Sent['acknowledged']): boolean {
  const texts = new Set(read.map(textOf))
  return acknowledged.every(({ text }) => texts.has(text))
}
