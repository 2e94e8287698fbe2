import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { BusError, type TopicPartition } from '../../../../ports/bus.ts'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { type BusDirectory, createBusDirectory, drain, TOPIC, textOf, textRecord } from '../testing/bus-directory.ts'

const NOW = { maxRecords: 100, maxBytes: 1 << 20, waitMs: 0 }

describe('embedded bus: consumer groups', () => {
  let directory: BusDirectory
  beforeEach(() => {
    directory = createBusDirectory()
  })
  afterEach(() => directory.remove())

  const keysByPartition = ['a', 'b', 'c', 'd'].map(key => textRecord(key, key))

  it('a partition changes hands only when its holder polls again, so that it can commit what it holds', async () => {
    const bus = await directory.open()
    await bus.send(TOPIC.name, keysByPartition)
    const first = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const got = await drain(first)
    const second = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    expect(await second.poll(NOW)).to.deep.equal([])
    expect(second.assignment()).to.deep.equal([])
    await first.commit(got.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset + 1 })))
    await first.poll(NOW)
    expect(await second.poll(NOW), 'nothing twice').to.deep.equal([])
    expect([first.assignment().length, second.assignment().length]).to.deep.equal([1, 1])
  })

  it('a holder that does not poll in time loses the partition, and is told', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ clock, rebalanceTimeoutMs: 5000 })
    await bus.send(TOPIC.name, keysByPartition)
    const revoked: TopicPartition[] = []
    const first = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name], onRevoked: partitions => void revoked.push(...partitions) })
    const got = await drain(first)
    const second = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    clock.advance(5000)
    await new Promise(resolve => setImmediate(resolve))
    const again = await drain(second)
    const [lost] = second.assignment()
    expect(again.map(textOf)).to.deep.equal(got.filter(r => r.partition === lost!.partition).map(textOf))
    let failure: unknown
    await first.commit([{ ...lost!, offset: 1 }]).catch((error: unknown) => {
      failure = error
    })
    expect(failure).to.be.instanceOf(BusError)
    await first.poll(NOW)
    expect(revoked).to.deep.include(lost)
    expect(first.assignment()).to.have.length(1)
  })

  it('a holder that got a partition back has the whole time again when it is asked for it once more', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ clock, rebalanceTimeoutMs: 5000 })
    const subscribe = () => bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const first = await subscribe()
    await first.poll(NOW)
    const second = await subscribe()
    await first.poll(NOW)
    await second.close()
    await first.poll(NOW)
    clock.advance(4000)
    const third = await subscribe()
    clock.advance(1000)
    await new Promise(resolve => setImmediate(resolve))
    await third.poll(NOW)
    expect(third.assignment()).to.deep.equal([])
    clock.advance(4000)
    await new Promise(resolve => setImmediate(resolve))
    await third.poll(NOW)
    expect(third.assignment()).to.have.length(1)
  })

  it('a seek beyond the end reads what is sent next', async () => {
    const bus = await directory.open()
    await bus.send(TOPIC.name, [textRecord('a', 'before')])
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const [{ topic, partition }] = (await drain(subscription)) as unknown as [TopicPartition]
    await subscription.seek([{ topic, partition, offset: 1e9 }])
    expect(await subscription.poll(NOW)).to.deep.equal([])
    await bus.send(TOPIC.name, [textRecord('a', 'next')])
    expect((await drain(subscription)).map(textOf)).to.deep.equal(['next'])
  })

  it('refuses an offset that is none, a topic that does not exist', async () => {
    const bus = await directory.open()
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    await subscription.poll(NOW)
    for (const offset of [-1, 0.5, Number.NaN]) {
      let message = ''
      await subscription.commit([{ ...subscription.assignment()[0]!, offset }]).catch((error: unknown) => {
        message = (error as Error).message
      })
      expect(message).to.include(`must be a whole number, not ${offset}`)
    }
    for (const work of [() => bus.subscribe({ groupId: 'g', topics: ['nope'] }), () => bus.send('nope', keysByPartition)]) {
      let message = ''
      await work().catch((error: unknown) => {
        message = (error as Error).message
      })
      expect(message).to.equal('topic nope does not exist; there are logs, output')
    }
  })
})
