import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { exportRecords as exportPages } from '../dataplane/console/pages/logs/export/export-records.ts'
import { readRecords } from '../dataplane/console/pages/logs/records/log-record.ts'
import { recordBody, surroundingBody } from '../dataplane/console/pages/logs/requests/records.ts'
import { countDocuments, exportRecords, incidents, postJson, scanLogs } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'
import { useUsualStandalone } from './testing/usual-standalone.ts'

const EQUAL = 6
/** More than a page of an export. */
const AT_ONCE = 2_500

describe('records of one moment', () => {
  const at = useUsualStandalone()

  describe('six equal records of one request', function () {
    this.timeout(60_000)

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
        const answer = await exportRecords(at.app.collector, Array(EQUAL).fill(record))
        expect(await answer.json()).to.deep.equal({ partialSuccess: {} })
        const last = { ...record, id: `last ${i}`, service: 'other', severityText: 'INFO', body: 'last' }
        await exportRecords(at.app.collector, [last])
        await eventually(async () => {
          expect(await countDocuments(at.app.search, 'service-logs-*', { term: { service: 'other' } })).to.equal(i + 1)
          expect(await countDocuments(at.app.search, 'service-logs-*', { term: { service: 'cart' } })).to.equal(EQUAL)
          const ofCart = (await incidents(at.app.ticketing)).filter(({ service }) => service === 'cart')
          expect(ofCart.map(({ anomalyCount }) => anomalyCount)).to.deep.equal([EQUAL])
        })
      }
      const documents = await scanLogs(at.app.search, { term: { service: 'cart' } })
      expect(documents.map(document => document['record.ordinal']).sort()).to.deep.equal([1, 2, 3, 4, 5, undefined])
      expect(await countDocuments(at.app.search, 'service-logs-*', { range: { 'record.ordinal': { gte: 4 } } })).to.equal(2)
    })
  })

  describe('records of one millisecond without a trace', function () {
    this.timeout(60_000)
    const OF_BOOT = { term: { service: 'boot' } }
    const nowMs = Math.floor(Date.now() / 1000) * 1000
    const bodyOf = (i: number) => `step ${i} of the start`
    const search = (body: object) => postJson(`${at.app.search}/service-logs-*/_search`, body)

    before(async () => {
      const records = Array.from({ length: AT_ONCE }, (_, i) => ({
        id: String(i),
        service: 'boot',
        severityText: 'INFO',
        body: bodyOf(i),
        attempt: 1,
        timeUnixNano: `${nowMs}000000`,
      }))
      await (await exportRecords(at.app.collector, records)).text()
      await eventually(async () => expect(await countDocuments(at.app.search, 'service-logs-*', OF_BOOT)).to.equal(AT_ONCE))
    })

    it('all stand in an export, in the order in which they came', async () => {
      const lines: string[] = []
      const scope = { query: OF_BOOT, window: { fromMs: nowMs - 1_000, toMs: nowMs + 1_000 } }
      const exported = await exportPages(
        { scope, order: 'oldest', format: 'ndjson', columns: [] },
        { search, write: text => void lines.push(text), progress: () => {}, signal: AbortSignal.timeout(30_000) },
      )
      expect(exported).to.deep.equal({ written: AT_ONCE, isCut: false, isIncomplete: false })
      const messages = lines.join('').trimEnd().split('\n')
      expect(messages.map(line => JSON.parse(line).message)).to.deep.equal(Array.from({ length: AT_ONCE }, (_, i) => bodyOf(i)))
    })

    it('surround each other', async () => {
      const [hit] = readRecords(await search({ size: 1, query: { term: { 'record.id': '1000' } } }))
      const [record] = readRecords(await search(recordBody(hit!.id)))
      const around = async (side: 'before' | 'after') =>
        readRecords(await search(surroundingBody({ sort: record!.sort, side, service: 'boot', size: 3 }))).map(
          each => each.source['message'],
        )
      expect(await around('before')).to.deep.equal([999, 998, 997].map(bodyOf))
      expect(await around('after')).to.deep.equal([1_001, 1_002, 1_003].map(bodyOf))
    })
  })
})
