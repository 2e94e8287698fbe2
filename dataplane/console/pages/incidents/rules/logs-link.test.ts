import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseSearch } from '../../logs/search/parse-search.ts'
import { logsOfEvidence, logsOfReason, logsOfRecord, logsOfService, logsOfTrace, queryFor } from './logs-link.ts'

const SPAN = { firstSeen: '2026-01-01T03:00:00.000Z', lastSeen: '2026-01-01T03:10:00.000Z' }
const NEAR = { from: '2026-01-01T02:50:00.000Z', to: '2026-01-01T03:15:00.000Z' }
const LONG = { ...NEAR, from: '2026-01-01T02:00:00.000Z' }
const reason = { text: 'text', logIds: ['l1', 'l2'], traceIds: ['t1'] }

describe('the logs that show what an incident says', () => {
  const cases = [
    [{ ...reason, kind: 'new', patternId: 'abc' }, 'service:db pattern_id:abc', NEAR],
    [{ ...reason, kind: 'missing', patternId: 'abc' }, 'service:db pattern_id:abc', LONG],
    [{ ...reason, kind: 'silence' }, 'service:db', LONG],
    [{ ...reason, kind: 'errors' }, 'service:db level:(ERROR OR FATAL)', NEAR],
    [{ ...reason, kind: 'errors', service: 'shop', patternId: 'abc' }, 'service:shop pattern_id:abc', NEAR],
    [{ ...reason, kind: 'delay' }, 'service:db trace_id:t1', NEAR],
    [{ ...reason, kind: 'delay', traceIds: [] }, 'service:db log_id:(l1 OR l2)', NEAR],
    [{ ...reason, kind: 'delay', traceIds: [], logIds: [] }, 'service:db', NEAR],
    [{ ...reason, kind: 'change' }, 'log_id:(l1 OR l2)', NEAR],
  ] as const
  for (const [each, query, range] of cases)
    it(`of a reason of kind ${each.kind}: ${query}`, () => {
      expect(logsOfReason('db', each, SPAN)).to.deep.equal({ query, ...range })
      expect(parseSearch(query)).to.have.property('ok', true)
    })

  it('of evidence, of a service, of a trace', () => {
    expect(logsOfEvidence('db', { patternId: 'p' }, SPAN)).to.deep.equal({ query: 'service:db pattern_id:p', ...NEAR })
    expect(logsOfRecord('db', { patternId: 'p' }, 'id', SPAN)).to.deep.equal({ query: 'service:db pattern_id:p', record: 'id', ...NEAR })
    expect(logsOfService('db', SPAN)).to.deep.equal({ query: 'service:db', ...NEAR })
    expect(logsOfTrace('t', SPAN)).to.deep.equal({ query: '', trace: 't', ...LONG })
  })

  it('are those of its tenant where all tenants are looked at', () => {
    const span = { ...SPAN, tenantId: 'acme' }
    expect(logsOfService('db', span)).to.deep.equal({ query: 'service:db', tenant: 'acme', ...NEAR })
    expect(logsOfEvidence('db', { patternId: 'p' }, span)).to.have.property('tenant', 'acme')
    expect(logsOfReason('db', { ...reason, kind: 'errors' }, span)).to.have.property('tenant', 'acme')
    expect(queryFor(logsOfService('db', span), undefined)).to.equal('service:db tenant_id:acme')
    expect(queryFor(logsOfService('db', span), 'acme')).to.equal('service:db')
    expect(queryFor(logsOfService('db', { ...SPAN, tenantId: 'default' }), undefined)).to.equal('service:db')
  })
})
