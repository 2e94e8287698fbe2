import { expect } from 'chai'
import { describe, it } from 'mocha'
import { INDEX_TEMPLATES, indexTemplates } from './index-templates.ts'

interface Template {
  readonly index_patterns: readonly string[]
  readonly template: {
    readonly settings: Record<string, unknown>
    readonly mappings: {
      readonly dynamic: boolean
      readonly date_detection?: boolean
      readonly properties: Record<string, { type: string; index?: boolean }>
    }
  }
}

const templateOf = (name: string) => INDEX_TEMPLATES[name] as Template

describe('index templates', () => {
  it('lay new indices out as they are told, and say nothing when they are not', () => {
    const told = indexTemplates({ shards: 3, replicas: 0 }) as Readonly<Record<string, Template>>
    expect(told['service-logs']!.template.settings).to.include({ 'index.number_of_shards': 3, 'index.number_of_replicas': 0 })
    expect(told['service-incidents']!.template.settings).to.deep.equal({ 'index.number_of_replicas': 0 })
    expect(templateOf('service-incidents').template.settings).to.deep.equal({})
  })

  it('map the indexed log document as the specification types it', () => {
    const { properties } = templateOf('service-logs').template.mappings
    const types = Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, type]))
    expect(types).to.include({
      timestamp: 'date',
      service: 'keyword',
      level: 'keyword',
      message: 'text',
      trace_id: 'keyword',
      span_id: 'keyword',
      host: 'keyword',
      tenant_id: 'keyword',
      anomaly_score: 'float',
      is_anomaly: 'boolean',
      batch_id: 'keyword',
      environment: 'keyword',
      region: 'keyword',
      attributes: 'flat_object',
    })
    expect(properties['time_unix_nano']!.index).to.equal(false)
  })

  it('limit the fields of a daily index to 3,000, and take no string for a date', () => {
    const { settings, mappings } = templateOf('service-logs').template
    expect(settings['index.mapping.total_fields.limit']).to.equal(3_000)
    expect(mappings).to.include({ dynamic: true, date_detection: false })
  })

  it('are there for every kind of index', () => {
    const patterns = Object.keys(INDEX_TEMPLATES).flatMap(name => templateOf(name).index_patterns)
    expect(patterns).to.deep.equal([
      'service-logs-*',
      'service-anomalies-*',
      'service-incidents-*',
      'service-audit-*',
      'service-dispatches-*',
      'service-config',
      'service-api-keys',
    ])
  })
})
