import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { WindowMember } from './anomaly-window.ts'
import { SharedTraces } from './shared-traces.ts'

function member(service: string, minute: number, trace_id: string | undefined = 't1'): WindowMember {
  const own = {
    id: service,
    log_id: 'l',
    timestamp: '',
    tenant_id: 't',
    service,
    level: 'ERROR',
    pattern_id: 'p',
    pattern: 'p',
    score: 0.5,
  } as const
  return { anomaly: { ...own, ...(trace_id !== undefined && { trace_id }) }, atMs: minute * 60_000, incidentId: undefined }
}

describe('services whose anomalies in the same window share a trace id', () => {
  const traces = new SharedTraces()
  for (const each of [member('checkout', 0), member('payment', 2), member('billing', 6), member('stock', 1, 't2'), member('mail', 1, '')])
    traces.add(each)

  it('are affected by each other', () => {
    expect([...traces.servicesWith([member('checkout', 0)])]).to.have.members(['checkout', 'payment'])
  })

  it('are not beyond five minutes from any anomaly of the group', () => {
    expect([...traces.servicesWith([member('checkout', 0), member('payment', 2)])]).not.to.include('billing')
    expect([...traces.servicesWith([member('payment', 2)])]).to.include('billing')
  })

  it('are found by the trace that a later anomaly brings', () => {
    expect(traces.servicesNear('t1', 120_000)).to.have.members(['checkout', 'payment', 'billing'])
    expect(traces.servicesNear('t2', 7 * 60_000)).to.deep.equal([])
    expect(traces.servicesNear('unknown', 0)).to.deep.equal([])
  })

  it('are forgotten by trace, the one longest untouched first', () => {
    const few = new SharedTraces()
    few.dropOldest()
    const add = (trace: string, service = 'checkout') => few.add(member(service, 0, trace))
    const known = () => ['a', 'b', 'c', 'd'].filter(trace => few.servicesNear(trace, 0).length > 0).join('')
    for (const trace of ['a', 'b', 'c', 'a']) add(trace)
    add('c', 'payment')
    expect([few.size, known()]).to.deep.equal([4, 'abc'])
    few.dropOldest()
    expect([few.size, known()]).to.deep.equal([3, 'ac'])
    add('b')
    few.dropOldest()
    expect([few.size, known()]).to.deep.equal([3, 'bc'])
    for (let i = 0; i < 3; i++) few.dropOldest()
    expect([few.size, known()]).to.deep.equal([0, ''])
    add('d')
    few.dropOldest()
    expect([few.size, known()]).to.deep.equal([0, ''])
  })

  it('of the last 20,000 traces are known, and a further trace takes no longer than one before', () => {
    const all = new SharedTraces()
    const add = (count: number, prefix: string) => {
      const startMs = process.cpuUsage().user
      for (let i = 0; i < count; i++) all.add(member('checkout', 0, `${prefix}${i}`))
      return process.cpuUsage().user - startMs
    }
    const filling = add(20_000, 'a')
    const going = add(60_000, 'b')
    expect(all.size).to.equal(20_000)
    expect(all.servicesNear('a19999', 0)).to.deep.equal([])
    expect(all.servicesNear('b40000', 0)).to.deep.equal(['checkout'])
    // Three times as long, and a margin; 800 ms by a map that is gone through from its start each time.
    expect(going).to.be.below(6 * filling + 150_000)
  })

  it('without a trace id share nothing', () => {
    const { trace_id: _, ...untraced } = member('other', 1).anomaly
    const before = traces.size
    traces.add({ ...member('other', 1), anomaly: untraced })
    expect(traces.size).to.equal(before)
    expect([...traces.servicesWith([{ ...member('other', 1), anomaly: untraced }])]).to.deep.equal([])
  })
})
