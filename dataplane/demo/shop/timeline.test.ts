import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FAULT_NAMES, FAULTS, type FaultName } from './faults.ts'
import { SERVICE_NAMES, type ShopRecord } from './services.ts'
import { timelineOf } from './timeline.ts'

const FROM = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

/** Records of a shop that is healthy for five minutes. */
function play(name: FaultName | undefined, { seed = 1, minutes = 8, fromMs = FROM } = {}): readonly ShopRecord[] {
  const records: ShopRecord[] = []
  const fault = name === undefined ? {} : { fault: { name, atMs: fromMs + 5 * MINUTE } }
  for (const record of timelineOf({ seed, fromMs, ...fault })) {
    if (record.timeMs >= fromMs + minutes * MINUTE) break
    records.push(record)
  }
  return records
}

describe('the shop', () => {
  it('is the same for the same seed, start and fault, and another one for others', () => {
    expect(play('bad-deploy')).to.deep.equal(play('bad-deploy'))
    expect(play('bad-deploy', { seed: 2, minutes: 1 })).not.to.deep.equal(play('bad-deploy', { minutes: 1 }))
    const traces = (records: readonly ShopRecord[]) => new Set(records.map(({ traceId }) => traceId).filter(id => id !== undefined))
    const later = traces(play(undefined, { fromMs: FROM + MINUTE, minutes: 1 }))
    expect([...traces(play(undefined, { minutes: 1 }))].filter(id => later.has(id))).to.deep.equal([])
  })

  it('is heard from all its services, about 33 times a second, in the order of time', () => {
    const records = play(undefined)
    expect(records.length / (8 * 60)).to.be.within(25, 40)
    expect(new Set(records.map(({ service }) => service))).to.have.all.keys(...SERVICE_NAMES)
    for (const [at, { timeMs }] of records.entries()) expect(timeMs).to.be.at.least(records[at - 1]?.timeMs ?? FROM)
  })

  it('knows no error while it is healthy, and few warnings', () => {
    const levels = Map.groupBy(play(undefined), ({ level }) => level)
    expect([...levels.keys()]).to.have.members(['INFO', 'WARN'])
    expect(levels.get('WARN')!.length / levels.get('INFO')!.length).to.be.below(0.02)
  })

  it('follows an order through its services in one trace, one span for each visit', () => {
    const orders = [...Map.groupBy(play(undefined, { minutes: 1 }), ({ traceId }) => traceId).values()]
    const shipped = orders.find(records => records.some(({ message }) => /order \d+ shipped/.test(message)))!
    expect(new Set(shipped.map(({ service }) => service))).to.have.all.keys(
      ...['api-gateway', 'checkout', 'cart', 'inventory', 'payments', 'orders-db', 'shipping-worker'],
    )
    for (const records of Map.groupBy(shipped, ({ spanId }) => spanId).values()) {
      expect(new Set(records.map(({ service }) => service)).size).to.equal(1)
    }
  })

  for (const name of FAULT_NAMES)
    it(`is as ever until it breaks: ${name}`, () => {
      const calm = (records: readonly ShopRecord[]) => records.filter(({ timeMs }) => timeMs < FROM + 5 * MINUTE)
      expect(calm(play(name))).to.deep.equal(calm(play(undefined)))
    })

  const broken = (name: FaultName) => play(name).filter(({ timeMs }) => timeMs >= FROM + 5 * MINUTE)

  for (const { name, level, says } of [
    { name: 'slow-database', level: 'ERROR', says: /statement timed out after 3000 ms/ },
    { name: 'bad-deploy', level: 'ERROR', says: /NullPointerException/ },
    { name: 'out-of-memory', level: 'FATAL', says: /OutOfMemoryError/ },
    { name: 'expired-certificate', level: 'ERROR', says: /certificate has expired/ },
  ] as const)
    it(`${name}: ${FAULTS[name].summary}`, () => {
      expect(broken(name).filter(record => record.level === level && says.test(record.message))).to.have.length.above(3)
    })

  it(`silent-worker: ${FAULTS['silent-worker'].summary}`, () => {
    const records = broken('silent-worker').filter(({ timeMs }) => timeMs > FROM + 5 * MINUTE + 10_000)
    expect(records.filter(({ service }) => service === 'shipping-worker')).to.deep.equal([])
    expect(records.filter(({ message }) => message.includes('is queued for shipping'))).to.have.length.above(50)
    expect(new Set(records.map(({ level }) => level))).not.to.include('ERROR')
  })
})
