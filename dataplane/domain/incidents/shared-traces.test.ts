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

  it('without a trace id share nothing', () => {
    const { trace_id: _, ...untraced } = member('other', 1).anomaly
    const before = traces.size
    traces.add({ ...member('other', 1), anomaly: untraced })
    expect(traces.size).to.equal(before)
    expect([...traces.servicesWith([{ ...member('other', 1), anomaly: untraced }])]).to.deep.equal([])
  })
})
