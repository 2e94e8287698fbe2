import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { cutFragments } from '../../../otlp/fragments.ts'
import { acceptJson } from '../../../otlp/json/accept-json.ts'
import { type Bus, BusError } from '../../../ports/bus.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { buildJson } from '../testing/requests.ts'
import { BusBatcher, buildMessages, type KeyedFragment } from './bus-batcher.ts'
import { Client } from './expected-clients.ts'

function fragmentsOf(key: string, ...messages: readonly string[]): KeyedFragment[] {
  const layout = acceptJson(Buffer.from(buildJson({ messages })), { observedTimeUnixNano: '1' })
  return cutFragments(layout, MAX_BUS_MESSAGE_BYTES).fragments.map(fragment => ({ key, fragment }))
}
const textOf = (value: Uint8Array) => Buffer.from(value).toString()
const bodiesOf = (value: Uint8Array) => [...textOf(value).matchAll(/"body":\{"stringValue":"([^"]*)"/g)].map(match => match[1])

describe('batching for the bus', () => {
  it('elements of one key go into one message, in order; each key has its own', () => {
    const fragments = [...fragmentsOf('a', '1'), ...fragmentsOf('b', '2'), ...fragmentsOf('a', '3')]
    const messages = buildMessages(fragments).records
    expect(messages.map(({ key, value }) => [key, bodiesOf(value)])).to.deep.equal([
      ['a', ['1', '3']],
      ['b', ['2']],
    ])
    for (const { value } of messages) expect(() => JSON.parse(textOf(value))).not.to.throw()
  })

  it('no message is larger than 900 KiB', () => {
    const fragments = Array.from({ length: 20 }, (_, i) => fragmentsOf('a', `${i % 10}`.repeat(100_000))).flat()
    const sizes = buildMessages(fragments).records.map(({ value }) => value.length)
    expect(sizes).to.have.length(3)
    expect(Math.max(...sizes)).to.be.at.most(MAX_BUS_MESSAGE_BYTES)
  })

  it('a request that is one message already is sent as it came', () => {
    const text = Buffer.from(buildJson({ messages: ['a'] }))
    const { fragments } = cutFragments(acceptJson(text, { observedTimeUnixNano: '1' }), MAX_BUS_MESSAGE_BYTES)
    expect(buildMessages([{ key: 'a', fragment: fragments[0]! }]).records[0]!.value).to.equal(text)
  })

  it('what arrives while a send is under way goes together, at most 200 ms later', async () => {
    const bus = createRecordingBus()
    const batcher = new BusBatcher({ bus, topic: 'raw-logs' })
    const release = bus.hold()
    const first = batcher.send(fragmentsOf('a', '1'))
    while (bus.waitingSends === 0) await new Promise(setImmediate)
    const rest = [batcher.send(fragmentsOf('a', '2')), batcher.send(fragmentsOf('a', '3'))]
    while (bus.waitingSends === 1) await new Promise(setImmediate)
    release()
    await Promise.all([first, ...rest])
    expect(bus.sent.map(({ record }) => bodiesOf(record.value))).to.deep.equal([['1'], ['2', '3']])
  })

  describe('little that comes soon after the last send', () => {
    const [a, b] = [new Client(), new Client()]
    /** Both have been answered. */
    const start = async (minIntervalMs: number) => {
      const bus = createRecordingBus()
      const batcher = new BusBatcher({ bus, topic: 'raw-logs', minIntervalMs })
      await Promise.all([batcher.send(fragmentsOf('a', '1'), a), batcher.send(fragmentsOf('a', '2'), b)])
      return { bus, batcher }
    }
    const bodies = (bus: ReturnType<typeof createRecordingBus>) => bus.sent.map(({ record }) => bodiesOf(record.value))

    it('waits until the clients that were answered last have come again', async () => {
      const { bus, batcher } = await start(600_000)
      const again = batcher.send(fragmentsOf('a', '3'), a)
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
      expect(bus.sendCount).to.equal(1)
      await Promise.all([again, batcher.send(fragmentsOf('a', '4'), b)])
      expect(bodies(bus)).to.deep.equal([
        ['1', '2'],
        ['3', '4'],
      ])
    })

    it('waits no longer than the interval, for clients that do not come', async () => {
      const { bus, batcher } = await start(5)
      await batcher.send(fragmentsOf('a', '3'), new Client())
      expect(bodies(bus)).to.deep.equal([['1', '2'], ['3']])
    })

    it('of a client that sends one request after the other does not wait', async () => {
      const bus = createRecordingBus()
      const batcher = new BusBatcher({ bus, topic: 'raw-logs', minIntervalMs: 600_000 })
      for (const message of ['1', '2', '3']) await batcher.send(fragmentsOf('a', message), a)
      expect(bodies(bus)).to.deep.equal([['1'], ['2'], ['3']])
    })

    it('does not wait when it is much after all', async () => {
      const { bus, batcher } = await start(600_000)
      await batcher.send(fragmentsOf('a', 'x'.repeat(70_000)), a)
      expect(bus.sendCount).to.equal(2)
    })

    it('does not wait when the last send has failed', async () => {
      const bus = createRecordingBus()
      const batcher = new BusBatcher({ bus, topic: 'raw-logs', minIntervalMs: 600_000 })
      bus.failWith('unavailable')
      await Promise.allSettled([batcher.send(fragmentsOf('a', '1'), a), batcher.send(fragmentsOf('a', '2'), b)])
      bus.failWith(undefined)
      await batcher.send(fragmentsOf('a', '3'), a)
      expect(bodies(bus)).to.deep.equal([['3']])
    })
  })

  describe('little that comes soon after the end of a send', () => {
    const [a, b, c, d] = [new Client(), new Client(), new Client(), new Client()]
    const start = async () => {
      const bus = createRecordingBus()
      const batcher = new BusBatcher({ bus, topic: 'raw-logs', minIntervalMs: 0, gatherMs: 600_000 })
      const send = (message: string, client: Client) => batcher.send(fragmentsOf('a', message), client)
      await Promise.all([send('1', a), send('2', b)])
      return { bus, send }
    }
    const bodies = (bus: ReturnType<typeof createRecordingBus>) => bus.sent.map(({ record }) => bodiesOf(record.value))

    it('waits for the clients that were answered, where those before have come again', async () => {
      const { bus, send } = await start()
      await Promise.all([send('3', a), send('4', b)])
      const other = send('5', c)
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
      expect(bus.sendCount).to.equal(2)
      await Promise.all([other, send('6', a), send('7', b)])
      expect(bodies(bus)).to.deep.equal([
        ['1', '2'],
        ['3', '4'],
        ['5', '6', '7'],
      ])
    })

    it('waits for nobody where those before have not come again', async () => {
      const { bus, send } = await start()
      await send('3', c)
      await send('4', d)
      expect(bodies(bus)).to.deep.equal([['1', '2'], ['3'], ['4']])
    })
  })

  it('a bus that never answers counts as unavailable', async () => {
    const bus = createRecordingBus()
    bus.hold()
    const error = await new BusBatcher({ bus, topic: 'raw-logs', ackTimeoutMs: 5 })
      .send(fragmentsOf('a', '1'))
      .catch((seen: unknown) => seen)
    expect(error).to.be.instanceOf(BusError).with.property('reason', 'unavailable')
  })

  it('memory of a message is lent again once the bus has it, and not after a failure: the bus may still read it', async () => {
    const bus = createRecordingBus()
    const memory: ArrayBufferLike[] = []
    const seeing: Bus = {
      ...bus,
      send(topic, records) {
        memory.push(records[0]!.value.buffer)
        return bus.send(topic, records)
      },
    }
    const batcher = new BusBatcher({ bus: seeing, topic: 'raw-logs' })
    const send = () => batcher.send([...fragmentsOf('a', 'x'.repeat(150_000)), ...fragmentsOf('a', 'y'.repeat(150_000))])
    const sends = 6
    for (let at = 0; at < sends; at++) await send()
    expect(new Set(memory).size).to.be.lessThan(sends)
    bus.failWith('unavailable')
    await send().catch(() => undefined)
    bus.failWith(undefined)
    const failed = memory.pop()
    for (let at = 0; at < sends; at++) await send()
    expect(memory).to.have.length(2 * sends)
    expect(memory.slice(sends)).not.to.include(failed)
    expect(bodiesOf(bus.sent.at(-1)!.record.value).map(body => body?.[0])).to.deep.equal(['x', 'y'])
  })

  it('a failure reaches every request of the batch, and no other', async () => {
    const bus = createRecordingBus()
    const batcher = new BusBatcher({ bus, topic: 'raw-logs' })
    bus.failWith('full')
    const results = await Promise.allSettled([batcher.send(fragmentsOf('a', '1')), batcher.send(fragmentsOf('b', '2'))])
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    bus.failWith(undefined)
    expect(await batcher.send(fragmentsOf('a', '3'))).to.equal(0)
  })
})
