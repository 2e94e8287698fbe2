import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Bus, BusError } from '../ports/bus.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createRecordingBus } from '../testing/recording-bus.ts'
import { openPatiently } from './patient-bus.ts'

const TOPIC = 'raw-logs'
const RECORD = { key: 'k', value: Buffer.from('v') }

/** A Kafka that `answer` stands for, and what is said about it. */
function harness(answer: (attempt: number) => Promise<Bus>) {
  const clock = createFakeClock()
  const told: string[] = []
  const tell = (fields: object) => void told.push(String((fields as { problem?: string }).problem ?? 'there'))
  let attempts = 0
  const opening = openPatiently({
    open: () => answer(++attempts),
    brokers: 'kafka-0:9092',
    clock,
    log: { ...SILENT, warn: tell, info: tell },
    random: () => 0,
  })
  /** Lets time pass, second by second. */
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { clock, told, opening, pass, attempts: () => attempts }
}

describe('a bus whose Kafka need not answer yet', () => {
  it('is open at once when the Kafka is there, and nothing is said', async () => {
    const inner = createRecordingBus()
    const { opening, told } = harness(async () => inner)
    const bus = await opening
    expect(bus.isOpen).to.equal(true)
    await bus.send(TOPIC, [RECORD])
    expect(inner.sent).to.have.length(1)
    expect(told).to.deep.equal([])
  })

  it('says within two seconds that nothing has answered, also where the first attempt takes longer', async () => {
    const { opening, told, pass } = harness(() => new Promise(() => {}))
    await pass(2)
    expect((await opening).isOpen).to.equal(false)
    expect(told).to.deep.equal(['no broker has answered yet'])
  })

  it('refuses until the Kafka is there, saying why; tries again less and less often; tells each problem once', async () => {
    const inner = createRecordingBus()
    let isThere = false
    const { opening, told, pass, attempts } = harness(async attempt => {
      if (isThere) return inner
      throw new BusError('unavailable', `no answer within ${attempt} ms`)
    })
    const bus = await opening
    expect(bus.isOpen).to.equal(false)
    for (const use of [() => bus.send(TOPIC, [RECORD]), () => bus.describe(), () => bus.subscribe({ groupId: 'g', topics: [TOPIC] })])
      expect(await use().catch((error: BusError) => [error.reason, error.message])).to.deep.equal([
        'unavailable',
        'BUS_BROKERS kafka-0:9092: no answer within 1 ms',
      ])
    await pass(60)
    expect(attempts()).to.be.within(10, 16)
    expect(told).to.have.length(1)
    const waiting = bus.opened(new AbortController().signal)
    isThere = true
    await pass(6)
    await waiting
    expect(bus.isOpen).to.equal(true)
    expect(told).to.deep.equal(['no answer within 1 ms', 'there'])
    await bus.send(TOPIC, [RECORD])
  })

  it('tells of another problem, such as a refused password', async () => {
    const { opening, told, pass } = harness(async attempt => {
      throw new BusError('unavailable', attempt < 4 ? 'ECONNREFUSED' : 'SASL: authentication failed')
    })
    await opening
    await pass(40)
    expect(told).to.deep.equal(['ECONNREFUSED', 'SASL: authentication failed'])
  })

  it('does not hold up the start when nobody answers, and closes what opens after the stop', async () => {
    const late = Promise.withResolvers<Bus>()
    const { opening, clock } = harness(() => late.promise)
    clock.advance(2_000)
    const bus = await opening
    const aborted = new AbortController()
    const waiting = bus.opened(aborted.signal)
    aborted.abort()
    await waiting
    await bus.stop()
    const closed = Promise.withResolvers<void>()
    late.resolve({ ...createRecordingBus(), stop: async () => closed.resolve() })
    await closed.promise
    expect(await bus.send(TOPIC, [RECORD]).catch((error: BusError) => error.reason)).to.equal('closed')
  })
})
