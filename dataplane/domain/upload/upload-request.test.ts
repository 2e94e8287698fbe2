import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ResourceLogs } from '../../otlp/payload.ts'
import { toLogRecord } from './upload-record.ts'
import { createRequestBuilder } from './upload-request.ts'

const UPLOADED = 1_795_348_800_000_000_000n

describe('the OTLP request of uploaded records', () => {
  it('has one resource for each service and host, with batch and tenant', () => {
    const request = createRequestBuilder({ batchId: 'b1', tenant: 'acme' })
    const entries = [{ service: 'shop', host: 'h1', message: 'one' }, { message: 'two' }, { service: 'shop', host: 'h1', message: 'three' }]
    for (const [i, entry] of entries.entries()) expect(request.add(toLogRecord(entry, i + 5, UPLOADED), i + 5, 10_000)).to.equal(true)
    expect(request.add(toLogRecord({ message: 'x'.repeat(10_000) }, 9, UPLOADED), 9, 10_000)).to.equal(false)
    expect(request).to.include({ records: 3, firstLine: 5 })
    const { resourceLogs } = JSON.parse(request.toJson())
    const seen = (resourceLogs as ResourceLogs[]).map(({ resource, scopeLogs }) => [
      Object.fromEntries(resource!.attributes!.map(({ key, value }) => [key, value!.stringValue])),
      scopeLogs![0]!.logRecords!.map(({ body }) => body!.stringValue),
    ])
    expect(seen).to.deep.equal([
      [{ 'service.name': 'shop', 'host.name': 'h1', batch_id: 'b1', tenant_id: 'acme' }, ['one', 'three']],
      [{ batch_id: 'b1', tenant_id: 'acme' }, ['two']],
    ])
  })
})
