import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { acceptJson } from '../../../otlp/accept-json.ts'
import { cutFragments } from '../../../otlp/fragments.ts'
import { BusError } from '../../../ports/bus.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { buildJson } from '../testing/requests.ts'
import { BusBatcher, buildMessages, type KeyedFragment } from './bus-batcher.ts'

function fragmentsOf(key: string, ...messages: readonly string[]): KeyedFragment[] {
  const layout = acceptJson(Buffer.from(buildJson({ messages })), { observedTimeUnixNano: '1' })
  return cutFragments(layout, MAX_BUS_MESSAGE_BYTES).fragments.map(fragment => ({ key, fragment }))
}
const textOf = (value: Uint8Array) => Buffer.from(value).toString()
const bodiesOf = (value: Uint8Array) => [...textOf(value).matchAll(/"body":\{"stringValue":"([^"]*)"/g)].map(match => match[1])

describe('batching for the bus', () => {
  it('elements of one key go into one message, in order; each key has its own', () => {
    const fragments = [...fragmentsOf('a', '1'), ...fragmentsOf('b', '2'), ...fragmentsOf('a', '3')]
    const messages = buildMessages(fragments)
    expect(messages.map(({ key, value }) => [key, bodiesOf(value)])).to.deep.equal([
      ['a', ['1', '3']],
      ['b', ['2']],
    ])
    for (const { value } of messages) expect(() => JSON.parse(textOf(value))).not.to.throw()
  })

  it('no message is larger than 900 KiB', () => {
    const fragments = Array.from({ length: 20 }, (_, i) => fragmentsOf('a', `${i % 10}`.repeat(100_000))).flat()
    const sizes = buildMessages(fragments).map(({ value }) => value.length)
    expect(sizes).to.have.length(3)
    expect(Math.max(...sizes)).to.be.at.most(MAX_BUS_MESSAGE_BYTES)
  })

  it('a request that is one message already is sent as it came', () => {
    const text = Buffer.from(buildJson({ messages: ['a'] }))
    const { fragments } = cutFragments(acceptJson(text, { observedTimeUnixNano: '1' }), MAX_BUS_MESSAGE_BYTES)
    expect(buildMessages([{ key: 'a', fragment: fragments[0]! }])[0]!.value).to.equal(text)
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

  it('a bus that never answers counts as unavailable', async () => {
    const bus = createRecordingBus()
    bus.hold()
    const error = await new BusBatcher({ bus, topic: 'raw-logs', ackTimeoutMs: 5 })
      .send(fragmentsOf('a', '1'))
      .catch((seen: unknown) => seen)
    expect(error).to.be.instanceOf(BusError).with.property('reason', 'unavailable')
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
