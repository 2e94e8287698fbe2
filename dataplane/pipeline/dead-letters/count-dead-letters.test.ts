import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createDeadLetterCounter, MAX_LABELLED_TENANTS } from './count-dead-letters.ts'

describe('logpipeline_dead_letters_total', () => {
  it('counts by stage and tenant, and tenants beyond the bound together', async () => {
    const metrics = createMetrics()
    const count = createDeadLetterCounter(metrics)
    count('etl', 'acme', 2)
    count('indexer', 'acme', 1)
    for (let i = 0; i < MAX_LABELLED_TENANTS + 5; i++) count('etl', `t${i}`, 1)
    count('etl', 'acme', 3)
    const lines = (await metrics.text()).split('\n').filter(line => line.startsWith('logpipeline_dead_letters_total{'))
    expect(lines).to.include.members([
      'logpipeline_dead_letters_total{stage="etl",tenant="acme"} 5',
      'logpipeline_dead_letters_total{stage="indexer",tenant="acme"} 1',
      'logpipeline_dead_letters_total{stage="etl",tenant="other tenants"} 6',
    ])
    expect(lines).to.have.length(MAX_LABELLED_TENANTS + 2)
  })
})
