import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openEmbeddedBus } from '../dataplane/adapters/bus/embedded/embedded-bus.ts'
import { systemClock } from '../dataplane/adapters/clock/system-clock.ts'
import { TOPICS } from '../dataplane/contract/topics.ts'
import { createEtl } from '../dataplane/pipeline/steps/flatten/etl.ts'
import type { PartitionState } from '../dataplane/ports/bus.ts'
import { SILENT } from '../dataplane/telemetry/log.ts'
import { postRecords, type SentRecord, scanLogs } from './testing/api.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const { raw, enriched, anomaly, deadLetter } = TOPICS

/** An ERROR that the rules take for an anomaly, of a service of its own. */
function failed(service: string): SentRecord {
  const timeUnixNano = `${Date.now()}000000`
  return { id: service, service, severityText: 'ERROR', body: 'request to payment timed out', attempt: 0, timeUnixNano }
}

/** The bus of a standalone that does not run. */
const openBus = (dataDir: string) =>
  openEmbeddedBus({
    dir: join(dataDir, 'bus'),
    topics: [raw, enriched, anomaly, deadLetter].map(({ name, partitions, retentionMs }) => ({ name, partitions, retentionMs })),
    maxBytes: 1024 ** 3,
    clock: systemClock,
    log: SILENT,
  })

const written = (partitions: readonly PartitionState[], topic: string) =>
  partitions.filter(state => state.topic === topic).reduce((sum, { endOffset }) => sum + endOffset, 0)

describe('a standalone with bus and store of its own', function () {
  this.timeout(90_000)
  let app: Standalone
  before(async () => {
    app = await startStandalone()
  })
  after(() => app.remove())

  const documentsOf = (service: string) => scanLogs(app.search, { term: { service } })

  it('takes records to their documents, and writes nothing on enriched-logs', async () => {
    expect(await postRecords(app.collector, [failed('direct')])).to.equal(200)
    await eventually(async () => expect(await documentsOf('direct')).to.have.length(1))
    expect((await documentsOf('direct'))[0]).to.include({ is_anomaly: true, level: 'ERROR' })
    await app.stop()
    const bus = await openBus(app.dataDir)
    const { partitions } = await bus.describe()
    expect([raw, enriched, anomaly].map(({ name }) => written(partitions, name))).to.deep.equal([1, 0, 1])
    await bus.stop()
  })

  it('takes in records that an earlier version left on enriched-logs', async () => {
    const bus = await openBus(app.dataDir)
    const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'left' } }] }
    const { severityText, body, timeUnixNano } = failed('left')
    const logRecords = [{ severityText, timeUnixNano, body: { stringValue: body } }]
    const message = Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }))
    await bus.send(enriched.name, etl.process(message, Date.now()).records)
    await bus.stop()
    await app.restart()
    await eventually(async () => expect((await documentsOf('left')).map(document => document['is_anomaly'])).to.deep.equal([true]))
    expect((await documentsOf('direct')).map(document => document['is_anomaly'])).to.deep.equal([true])
  })

  it('scores on with the windows that it had before it was killed', async () => {
    const ordinary = Array.from({ length: 30 }, (_, i) => ({
      ...failed('window'),
      id: `w-${i}`,
      severityText: 'INFO',
      body: `order ${i} shipped`,
    }))
    expect(await postRecords(app.collector, ordinary)).to.equal(200)
    await eventually(async () => expect(await documentsOf('window')).to.have.length(30))
    await app.kill()
    await app.restart()
    expect(await postRecords(app.collector, [failed('window')])).to.equal(200)
    await eventually(async () => {
      const [found] = await scanLogs(app.search, { bool: { filter: [{ term: { service: 'window' } }, { term: { level: 'ERROR' } }] } })
      // The Z-score engine speaks of windows with ten records and more alone.
      expect(found?.['anomaly_score']).to.be.above(2.5)
    })
  })
})
