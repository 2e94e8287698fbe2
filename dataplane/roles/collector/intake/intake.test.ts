import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Bus, BusError, QueueFull } from '../../../ports/bus.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMetrics } from '../../../telemetry/metrics.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { buildJson } from '../testing/requests.ts'
import { createCollectorCounters } from './collector-counters.ts'
import { Intake } from './intake.ts'

/** Bytes of the body that are left once the bus has refused its records for that reason. */
async function leftOf(error: Error): Promise<number> {
  const bus: Bus = { ...createRecordingBus(), send: () => Promise.reject(error) }
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  const settings = { maxRequestBytes: 1 << 20, maxPendingBytes: 1 << 20, tenantId: 'default', rawTopic: 'raw-logs' }
  const intake = new Intake({ bus, clock, log: SILENT, counters: createCollectorCounters(createMetrics()), settings })
  const text = buildJson({ messages: ['x'.repeat(100_000)] })
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  body.write(text)
  const lease = intake.budget.lease()
  const refused = await intake.accept({ transport: 'http_json', body, encoding: 'identity', lease }).catch((refusal: Error) => refusal)
  expect(refused).to.be.an('error')
  expect(intake.budget.usedBytes).to.equal(0)
  return body.length
}

describe('large requests', () => {
  it('are read one after the other: the memory of all would be taken at once', async () => {
    const settings = { maxRequestBytes: 1 << 24, maxPendingBytes: 1 << 26, tenantId: 'default', rawTopic: 'raw-logs' }
    const deps = { bus: createRecordingBus(), clock: createFakeClock(), log: SILENT, counters: createCollectorCounters(createMetrics()) }
    const intake = new Intake({ ...deps, settings })
    const read: number[] = []
    const send = async (messages: number) => {
      const body = Buffer.from(buildJson({ messages: Array.from({ length: messages }, () => 'x'.repeat(100)) }))
      await intake.accept({
        transport: 'http_json',
        body,
        encoding: 'identity',
        lease: intake.budget.lease(),
        // biome-ignore lint/correctness/useYield: it has no rest
        *arrange(layout) {
          read.push(messages)
          return layout
        },
      })
    }
    await Promise.all([send(60_000), send(9_000)])
    expect(read).to.deep.equal([60_000, 9_000])
  })
})

describe('a request whose records the bus refuses', () => {
  it('gives its memory back at once where the bus is full', async () => {
    expect(await leftOf(new QueueFull('full'))).to.equal(0)
  })

  it('keeps its memory in any other case, since the bus may still read it', async () => {
    for (const reason of ['overloaded', 'unavailable', 'full'] as const)
      expect(await leftOf(new BusError(reason, '')), reason).to.be.above(100_000)
  })
})
