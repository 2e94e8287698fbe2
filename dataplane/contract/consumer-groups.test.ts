import { expect } from 'chai'
import { describe, it } from 'mocha'
import { consumerGroup, readersOf } from './consumer-groups.ts'

const NAMES = { raw: 'raw-logs', enriched: 'enriched-logs', anomaly: 'anomaly-events', deadLetter: 'dead-letter-queue' }

describe('consumer groups', () => {
  it('each consumer has its own', () => {
    expect(readersOf('raw', NAMES)).to.deep.equal(['logpipeline-bridge-etl'])
    expect(readersOf('enriched', NAMES)).to.deep.equal(['logpipeline-bridge-anomaly', 'logpipeline-bridge-indexer'])
    expect(readersOf('anomaly', NAMES)).to.deep.equal(['logpipeline-bridge-indexer', 'logpipeline-bridge-lifecycle'])
    expect(readersOf('deadLetter', NAMES)).to.deep.equal([])
  })

  it('two installations on one Kafka, each with topics of its own, share none', () => {
    expect(consumerGroup('etl', ['staging-raw'])).to.equal('logpipeline-bridge-etl-staging-raw')
    expect(readersOf('enriched', { ...NAMES, anomaly: 'staging-anomalies' })).to.deep.equal([
      'logpipeline-bridge-anomaly',
      'logpipeline-bridge-indexer-staging-anomalies',
    ])
  })
})
