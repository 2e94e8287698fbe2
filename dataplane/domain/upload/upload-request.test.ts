import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ResourceLogs } from '../../otlp/payload.ts'
import { toLogRecord } from './upload-record.ts'
import { createRequestBuilder } from './upload-request.ts'

const UPLOADED = 1_795_348_800_000_000_000n
const LIMITS = { recordBytes: 10_000, requestBytes: 100_000 }

describe('the OTLP request of uploaded records', () => {
  it('has one resource for each service and host, with batch and tenant', () => {
    const request = createRequestBuilder({ batchId: 'b1', tenant: 'acme' })
    const entries = [{ service: 'shop', host: 'h1', message: 'one' }, { message: 'two' }, { service: 'shop', host: 'h1', message: 'three' }]
    for (const [i, entry] of entries.entries()) expect(request.add(toLogRecord(entry, i + 5, UPLOADED), i + 5, LIMITS)).to.equal('added')
    expect(request.add(toLogRecord({ message: 'x'.repeat(10_000) }, 9, UPLOADED), 9, LIMITS)).to.equal('too large a record')
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
  it('knows how many bytes it has, and is full beyond those it may have', () => {
    const filled = (requestBytes: number) => {
      const request = createRequestBuilder({ batchId: 'b1', tenant: 'acme' })
      const limits = { recordBytes: 10_000, requestBytes }
      let line = 0
      const add = () => request.add(toLogRecord({ service: `s${line % 7}`, message: 'für 日本 "😀"' }, ++line, UPLOADED), line, limits)
      for (; add() === 'added'; );
      return { bytes: Buffer.byteLength(request.toJson()), records: request.records }
    }
    const { bytes, records } = filled(10_000)
    expect(records).to.be.greaterThan(20)
    expect(filled(bytes)).to.deep.equal({ bytes, records })
    expect(filled(bytes - 1).records).to.equal(records - 1)
  })

  it('is too small for a record that does not fit it alone', () => {
    const request = createRequestBuilder({ batchId: 'b1', tenant: undefined })
    expect(request.add(toLogRecord({ message: 'x'.repeat(1_000) }, 1, UPLOADED), 1, { recordBytes: 10_000, requestBytes: 1_024 })).to.equal(
      'too large a request',
    )
    expect(request.records).to.equal(0)
  })
})
