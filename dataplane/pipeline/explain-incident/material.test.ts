import { expect } from 'chai'
import { describe, it } from 'mocha'
import { useAsExplainer } from '../../search-store/testing/product-use/explain-use.ts'
import { recordStore } from '../../search-store/testing/product-use/recorded-store.ts'
import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { buildExplainedIncident, buildReason, buildRules } from '../../testing/explained-incident-fixture.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { readLines, readSimilar } from './material.ts'

describe('what a prompt reads from the search store', () => {
  const incident = buildExplainedIncident({ tenantId: 'acme' })
  const rules = buildRules({ reasons: [buildReason({ logIds: ['l1', 'l9'] })] })
  const line = {
    tenant_id: 'acme',
    timestamp: '2026-01-01T00:00:00.000Z',
    level: 'ERROR',
    service: 'checkout',
    message: 'no',
    card: 'secret',
  }

  it('lines that the evidence names, of the tenant and the time alone, with no other fields', async () => {
    const store = createMemorySearchStore()
    const documents = [
      { ...line, log_id: 'l2', message: 'second' },
      { ...line, log_id: 'l1', message: 'first' },
      { ...line, log_id: 'l9' },
      { ...line, log_id: 'l1', tenant_id: 'other', message: 'foreign' },
      { ...line, log_id: 'l1', timestamp: '2025-06-01T00:00:00.000Z', message: 'old' },
    ]
    for (const [i, document] of documents.entries()) await store.put('service-logs-2026.01.01', `${i}`, document)
    const lines = await readLines(store, incident, rules)
    expect(lines.map(({ message }) => message)).to.deep.equal(['first', 'second'])
    expect(lines[0]).to.not.have.any.keys('card', 'tenant_id')
  })

  it('resolved incidents of the tenant that share patterns, most of them first', async () => {
    const store = createMemorySearchStore()
    const past = { ...incident, status: 'resolved' as const, resolvedAt: '2025-12-01T00:00:00.000Z' }
    const [pattern] = incident.evidence
    const both = { ...incident, evidence: [pattern!, { ...pattern!, patternId: 'p5' }] }
    await storeIncidents(
      store,
      { ...past, id: 'one', title: 'one' },
      { ...past, id: 'two', title: 'two', evidence: both.evidence, rootCause: buildRules() },
      { ...past, id: 'open', status: 'open' },
      { ...past, id: 'foreign', tenantId: 'other' },
      { ...past, id: 'unlike', evidence: [{ ...pattern!, patternId: 'p7' }] },
      { ...past, id: 'elsewhere', service: 'search' },
      { ...past, id: incident.id },
    )
    const similar = await readSimilar(store, both, rules)
    expect(similar.map(({ title, cause }) => [title, cause])).to.deep.equal([
      ['two', 'checkout'],
      ['one', 'checkout'],
    ])
  })

  it('is there on the embedded store, which answers as OpenSearch does (product-queries.real.ts)', async () => {
    const { store, stop } = await startEmbeddedSearchStore()
    try {
      await putIndexTemplates(store)
      const found = (await useAsExplainer(recordStore(store))) as { lines: readonly object[]; similar: readonly object[] }
      const line = { timestamp: '2026-01-01T00:00:00.000Z', level: 'ERROR', service: 'checkout' }
      expect(found.lines).to.deep.equal([
        { ...line, log_id: 'l1', message: 'line l1' },
        { ...line, log_id: 'l2', message: 'line l2' },
      ])
      expect(found.similar).to.deep.equal([
        {
          title: 'the past',
          service: 'checkout',
          resolvedAt: '2025-12-01T00:00:00.000Z',
          cause: 'checkout',
          reason: buildRules().candidates[0]!.reasons[0]!.text,
        },
      ])
    } finally {
      await stop()
    }
  })
})
