import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { countDocuments, exportRecords, incidents, scanLogs } from './testing/api.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const EQUAL = 6

describe('six equal records of one request', function () {
  this.timeout(60_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => standalone.remove())

  it('are six documents and six anomalies of their incident, and stay so when the request is sent again', async () => {
    const record = {
      id: 'one',
      service: 'cart',
      severityText: 'FATAL',
      body: 'disk full',
      attempt: 1,
      timeUnixNano: `${Math.floor(Date.now() / 1000)}000000000`,
    }
    for (let i = 0; i < 2; i++) {
      const answer = await exportRecords(standalone.collector, Array(EQUAL).fill(record))
      expect(await answer.json()).to.deep.equal({ partialSuccess: {} })
      const last = { ...record, id: `last ${i}`, service: 'other', severityText: 'INFO', body: 'last' }
      await exportRecords(standalone.collector, [last])
      await eventually(async () => {
        expect(await countDocuments(standalone.search, 'service-logs-*', { term: { service: 'other' } })).to.equal(i + 1)
        expect(await countDocuments(standalone.search, 'service-logs-*', { term: { service: 'cart' } })).to.equal(EQUAL)
        const [incident] = await incidents(standalone.ticketing)
        expect(incident).to.include({ service: 'cart', anomalyCount: EQUAL })
      })
    }
    const documents = await scanLogs(standalone.search, { term: { service: 'cart' } })
    expect(documents.map(document => document['record.ordinal']).sort()).to.deep.equal([1, 2, 3, 4, 5, undefined])
    expect(await countDocuments(standalone.search, 'service-logs-*', { range: { 'record.ordinal': { gte: 4 } } })).to.equal(2)
  })
})
