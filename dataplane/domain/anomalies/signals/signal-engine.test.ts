import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SPEAKS } from './signal.ts'
import { SignalEngine } from './signal-engine.ts'
import { STEPS, traffic } from './testing/steady-traffic.ts'

describe('signals of all services', () => {
  it('are apart by tenant and service', () => {
    const engine = new SignalEngine(() => undefined)
    const spoke = new Set<string>()
    const send = (key: string, records: ReturnType<typeof traffic>) => {
      for (const record of records) if (engine.observe({ key }, record)?.findings.some(({ z }) => z >= SPEAKS)) spoke.add(key)
    }
    for (const key of ['a/x', 'b/x', 'a/y']) send(key, traffic(0, 28))
    for (const key of ['b/x', 'a/y', 'a/x']) send(key, traffic(28, 31, { steps: key === 'a/x' ? STEPS.slice(0, 2) : STEPS }))
    expect([...spoke]).to.deep.equal(['a/x'])
  })

  it('a service that falls silent is shown by the last records kept of it; of one partition alone', () => {
    const run = (partitions: readonly number[]) => {
      let now = 0
      const engine = new SignalEngine(({ key }) => `${key} ${now}`)
      const silent: string[][] = []
      for (let slot = 0; slot < 40; slot++)
        for (const [at, key] of ['a/x', 'a/y'].entries()) {
          if (key === 'a/y' && slot >= 30) continue
          now = slot
          for (const record of traffic(slot, slot + 1, { perSlot: 20 })) {
            const observed = engine.observe({ key, partition: partitions[at]! }, record)
            for (const { records } of observed?.silent ?? []) silent.push([...records])
          }
        }
      return silent
    }
    expect(run([0, 0])).to.deep.equal([['a/y 27', 'a/y 28', 'a/y 29']])
    expect(run([0, 1])).to.deep.equal([])
  })

  it('1,000 services take less than 32 MiB', () => {
    const engine = new SignalEngine(() => undefined)
    for (let service = 0; service < 1_000; service++)
      for (const record of traffic(0, 28, { perSlot: 1 })) engine.observe({ key: `a/${service}` }, record)
    expect(engine.bytes).to.be.below(32 * 1024 * 1024)
  })
})
