import { expect } from 'chai'
import { describe, it } from 'mocha'
import { sampleKey } from '../../../domain/tickets/build-ticket-content.ts'
import { buildIncident } from '../../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { readSamples } from './read-samples.ts'

describe('the sample records of a ticket', () => {
  it('are those of its patterns, also where all records of a second have one log_id', async () => {
    const store = createMemorySearchStore()
    const timestamp = '2025-12-31T23:59:30.000Z'
    const record = (message: string, pattern_id: string, over: object = {}) =>
      store.put('service-logs-2025.12.31', `${message} ${JSON.stringify(over)}`, {
        ...{ tenant_id: 'default', service: 'checkout', level: 'ERROR', timestamp, log_id: 'l1', message, pattern_id },
        ...over,
      })
    await record('card declined', 'declined')
    await record('cannot reach payment', 'refused')
    for (let i = 0; i < 40; i++) await record(`cart ${i} is stored`, 'stored', { level: 'INFO' })
    await record('card declined', 'declined', { service: 'another' })
    await record('card declined', 'declined', { tenant_id: 'another' })
    const evidence = ['declined', 'refused'].map(patternId => ({
      patternId,
      pattern: patternId,
      count: 2,
      score: 0.5,
      logIds: ['l1'],
      traceIds: [],
    }))
    const samples = await readSamples(store, buildIncident({ evidence }))
    expect([...samples].map(([key, { message, level }]) => [key, message, level])).to.have.deep.members([
      [sampleKey('declined', 'l1'), 'card declined', 'ERROR'],
      [sampleKey('refused', 'l1'), 'cannot reach payment', 'ERROR'],
    ])
  })

  it('say which exception they have where their message does not', async () => {
    const store = createMemorySearchStore()
    const exception = { 'exception.type': 'java.sql.SQLException', 'exception.message': 'pool is exhausted' }
    const record = (log_id: string, message: string, over: object = exception) =>
      store.put('service-logs-2025.12.31', log_id, {
        ...{
          tenant_id: 'default',
          service: 'checkout',
          level: 'ERROR',
          timestamp: '2025-12-31T23:59:30.000Z',
          log_id,
          message,
          pattern_id: 'p',
        },
        ...over,
      })
    await record('l1', 'unhandled error')
    await record('l2', 'failed: pool is exhausted')
    await record('l3', 'failed', { 'exception.type': 7, 'exception.message': 'x'.repeat(5_000) })
    const said = async (id: string) => {
      const evidence = [{ patternId: 'p', pattern: 'p', count: 1, score: 0.5, logIds: [id], traceIds: [] }]
      return (await readSamples(store, buildIncident({ evidence }))).get(sampleKey('p', id))?.message
    }
    expect(await said('l1')).to.equal('unhandled error – java.sql.SQLException: pool is exhausted')
    expect(await said('l2')).to.equal('failed: pool is exhausted')
    expect(await said('l3')).to.have.length(1_024 + 'failed – '.length)
  })
})
