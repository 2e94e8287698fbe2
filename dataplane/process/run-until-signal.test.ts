import { EventEmitter, once } from 'node:events'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { DRAIN_LIMIT_MS, runUntilSignal, type Stoppable } from './run-until-signal.ts'

function harness(running: Partial<Stoppable> & { start?: () => Promise<Stoppable> }) {
  const signals = new EventEmitter()
  const clock = createFakeClock()
  const stopping = new EventEmitter()
  const role: Stoppable = {
    async stop() {
      stopping.emit('stop')
      await running.stop?.()
    },
    ...(running.failed === undefined ? {} : { failed: running.failed }),
  }
  const exit = runUntilSignal(running.start ?? (async () => role), { log: SILENT, clock, signals })
  return { signals, clock, stopping, exit }
}
const never = () => new Promise<never>(() => {})

describe('running until a signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal}: drains and exits 0`, async () => {
      const { signals, stopping, exit } = harness({})
      const stopped = once(stopping, 'stop')
      signals.emit(signal, signal)
      await stopped
      expect(await exit).to.equal(0)
      expect(signals.listenerCount(signal)).to.equal(0)
    })
  }

  it('a second signal exits at once', async () => {
    const { signals, clock, exit } = harness({ stop: never })
    signals.emit('SIGTERM', 'SIGTERM')
    clock.advance(1000)
    signals.emit('SIGTERM', 'SIGTERM')
    expect(await exit).to.equal(143)
  })

  it('the echo of a signal (npm passing on Ctrl-C) is not a second one', async () => {
    const gate = Promise.withResolvers<void>()
    const { signals, clock, exit } = harness({ stop: () => gate.promise })
    signals.emit('SIGINT', 'SIGINT')
    clock.advance(10)
    signals.emit('SIGINT', 'SIGINT')
    gate.resolve()
    expect(await exit).to.equal(0)
  })

  it('a signal during the start stops what was started', async () => {
    const started = Promise.withResolvers<Stoppable>()
    const { signals, exit } = harness({ start: () => started.promise })
    signals.emit('SIGTERM', 'SIGTERM')
    let stopped = false
    started.resolve({
      async stop() {
        stopped = true
      },
    })
    expect([await exit, stopped]).to.deep.equal([0, true])
  })

  it('exits 1 when it does not drain within 25 s', async () => {
    const { signals, clock, stopping, exit } = harness({ stop: never })
    const stopped = once(stopping, 'stop')
    signals.emit('SIGTERM', 'SIGTERM')
    await stopped
    expect(DRAIN_LIMIT_MS).to.be.below(25_000)
    clock.advance(DRAIN_LIMIT_MS)
    expect(await exit).to.equal(1)
  })

  it('exits 1, stopped, when the role cannot go on', async () => {
    const { stopping, exit } = harness({ failed: Promise.reject(new Error('disk gone')) })
    await once(stopping, 'stop')
    expect(await exit).to.equal(1)
  })

  it('exits 1 when the role cannot start or cannot stop', async () => {
    expect(await harness({ start: () => Promise.reject(new Error('port taken')) }).exit).to.equal(1)
    const { signals, exit } = harness({ stop: () => Promise.reject(new Error('no')) })
    signals.emit('SIGINT', 'SIGINT')
    expect(await exit).to.equal(1)
  })
})
