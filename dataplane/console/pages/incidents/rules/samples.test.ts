import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Hit, LogDocument } from '../../../api/search.ts'
import { readSamples, sampleIds, samplesBody, samplesOf } from './samples.ts'

const evidence = (patternId: string, logIds: readonly string[]) => ({ patternId, pattern: '', count: 1, score: 0, logIds, traceIds: [] })
const hit = (_id: string, pattern_id: string, log_id: string): Hit<LogDocument> => ({
  ...{ _index: 'i', _id },
  _source: { timestamp: '', level: 'ERROR', service: 'cart', message: _id, pattern_id, log_id },
})

describe('sample lines of evidence', () => {
  const incident = {
    ...{ tenantId: 'shop', service: 'cart', firstSeen: '2026-01-02T03:00:00Z', lastSeen: '2026-01-02T03:10:00Z' },
    evidence: [evidence('p1', ['same', 'b']), evidence('p2', ['same'])],
  }

  it('are of the service, the tenant and the patterns of the incident: others that logged at the same time have the same `log_id`', () => {
    expect(samplesBody(incident)['query']).to.deep.equal({
      bool: {
        filter: [
          { terms: { log_id: ['b', 'same'] } },
          { terms: { pattern_id: ['p1', 'p2'] } },
          { term: { service: 'cart' } },
          { term: { tenant_id: 'shop' } },
          { range: { timestamp: { gte: '2026-01-01T03:00:00.000Z', lte: '2026-01-03T03:10:00.000Z' } } },
        ],
      },
    })
  })

  it('stand with their pattern, whatever the order of the answer', () => {
    const hits = [hit('1', 'p1', 'same'), hit('2', 'p2', 'same'), hit('3', 'p1', 'b')]
    for (const answer of [hits, hits.toReversed()]) {
      const samples = readSamples(answer)
      expect(incident.evidence.map(each => samplesOf(each, samples).map(({ documentId }) => documentId))).to.deep.equal([['1', '3'], ['2']])
    }
    expect(samplesOf(evidence('p3', ['same']), readSamples(hits))).to.deep.equal([])
  })

  it('are asked for once each, and not without bound', () => {
    expect(
      sampleIds([
        evidence(
          'p',
          Array.from({ length: 300 }, (_, i) => String(i)),
        ),
      ]),
    ).to.have.length(200)
  })
})
