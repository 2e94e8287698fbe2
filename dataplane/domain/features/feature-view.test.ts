import { expect } from 'chai'
import { describe, it } from 'mocha'
import { INDEX_TEMPLATES } from '../documents/index-templates.ts'
import { enrich } from './enrichment.ts'
import { FEATURE_NAMES, INTEGER_FEATURES, isFeatureName, JOIN_KEYS } from './feature-view.ts'

describe('the feature view service_stats', () => {
  it('has the four ml fields of a flat record, each known to the index', () => {
    const { enriched: _, ...fields } = enrich(undefined)
    expect([...FEATURE_NAMES]).to.have.members(Object.keys(fields))
    const { properties } = (INDEX_TEMPLATES['service-logs'] as { template: { mappings: { properties: Record<string, { type: string }> } } })
      .template.mappings
    for (const name of FEATURE_NAMES) expect(properties[name]?.type, name).to.equal(INTEGER_FEATURES.has(name) ? 'integer' : 'float')
  })

  it('is joined by tenant_id and service', () => expect(JOIN_KEYS).to.deep.equal(['tenant_id', 'service']))

  it('knows no other names', () => {
    for (const name of ['enriched', 'constructor', '', 'ML_ERROR_RATE_1H']) expect(isFeatureName(name), name).to.equal(false)
  })
})
