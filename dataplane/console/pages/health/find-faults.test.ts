import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { InfrastructureMetrics } from '../../api/agent.ts'
import { findFaults } from './find-faults.ts'

const HEALTHY: InfrastructureMetrics = {
  bus: { status: 'healthy', brokers: 1, topics: { 'raw-logs': { partitions: 6, consumerLag: 3 } } },
  stream: { status: 'healthy', jobs: [] },
  search: { status: 'green', nodes: 1, indices: 3, totalDocs: 5, totalSizeBytes: 100 },
  secrets: { status: 'healthy', externalSecrets: [] },
  deadLetters: { letters: 0, oldest: null },
}

describe('the verdict on health', () => {
  it('names nothing where all is well, or nothing is known yet', () => {
    expect(findFaults({ backends: undefined, infrastructure: undefined, bridge: undefined })).to.deep.equal([])
    const bridge = { status: 'ok', threads: { etl: 'running' }, bus: 'connected', search: 'connected' } as const
    const backends = { status: 'ok', backends: { bridge: 'connected', scheduler: 'not configured' } } as const
    expect(findFaults({ backends, infrastructure: HEALTHY, bridge })).to.deep.equal([])
  })

  it('names each fault, what does not work before what may soon', () => {
    const infrastructure: InfrastructureMetrics = {
      bus: { status: 'degraded', brokers: 1, topics: { 'raw-logs': { partitions: 6, consumerLag: 12_345 } } },
      stream: { status: 'down', jobs: [{ name: 'score', state: 'FAILED', taskManagers: 0, uptime: '0s' }] },
      search: { ...HEALTHY.search, status: 'yellow' },
      secrets: { status: 'degraded', externalSecrets: [{ name: 'llm', status: 'SecretSyncError', lastSyncTime: null }] },
      deadLetters: { letters: 1, oldest: null },
    }
    const bridge = { status: 'error', threads: { indexer: 'restarting' }, bus: 'connected', search: 'connected' } as const
    const faults = findFaults({ backends: { status: 'ok', backends: { ticketing: 'disconnected' } }, infrastructure, bridge })
    expect(faults.map(({ tone, text }) => `${tone} ${text}`)).to.deep.equal([
      'bad The ticketing agent does not answer the dashboard. Start it, or look into its log.',
      "bad The bridge's thread indexer is restarting.",
      'bad The stream job score is FAILED.',
      'warn The message bus is degraded.',
      'warn The search store is yellow: some copies of the data are missing.',
      'warn The secret llm is not synchronised.',
      'warn 12,345 messages wait in raw-logs.',
      'warn One dead letter lies in the queue.',
    ])
  })

  it('names what the bridge cannot reach, also where no agent tells of it', () => {
    const bridge = { status: 'error', threads: { etl: 'running' }, bus: 'disconnected', search: 'disconnected' } as const
    const faults = findFaults({ backends: undefined, infrastructure: undefined, bridge })
    expect(faults.map(({ tone, text }) => `${tone} ${text}`)).to.deep.equal([
      'bad The bridge is disconnected from the message bus.',
      'bad The bridge is disconnected from the search store.',
    ])
  })

  it('names parts that the agent cannot ask about, though no member of them fails', () => {
    const infrastructure: InfrastructureMetrics = {
      ...HEALTHY,
      stream: { status: 'degraded', jobs: [] },
      secrets: { status: 'down', externalSecrets: [] },
    }
    const faults = findFaults({ backends: undefined, infrastructure, bridge: undefined })
    expect(faults.map(({ tone, text }) => `${tone} ${text}`)).to.deep.equal([
      'warn The stream jobs are degraded.',
      'warn The external secrets are down.',
    ])
  })

  it('says why, where the agent does', () => {
    const infrastructure: InfrastructureMetrics = {
      ...HEALTHY,
      bus: { ...HEALTHY.bus, status: 'degraded', reason: '/data has 999 bytes free' },
      search: { ...HEALTHY.search, status: 'yellow', reason: '2 indices cannot be written: disk is full' },
    }
    const faults = findFaults({ backends: undefined, infrastructure, bridge: undefined })
    expect(faults.map(({ text }) => text)).to.deep.equal([
      'The message bus is degraded: /data has 999 bytes free.',
      'The search store is yellow: 2 indices cannot be written: disk is full.',
    ])
  })
})
