import { expect } from 'chai'
import { describe, it } from 'mocha'
import { toExportRequest } from './export-request.ts'

describe('records of the shop as OTLP', () => {
  const record = { service: 'cart', level: 'ERROR', message: 'no', timeMs: 1_767_225_600_000.25 } as const

  it('hold time to the microsecond, severity, trace and attributes', () => {
    const request = JSON.parse(
      toExportRequest([{ ...record, traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), attributes: { n: 7, s: 'x' } }], 'acme'),
    )
    expect(request.resourceLogs[0].scopeLogs[0].logRecords).to.deep.equal([
      {
        ...{ timeUnixNano: '1767225600000250000', severityText: 'ERROR', severityNumber: 17, body: { stringValue: 'no' } },
        ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
        attributes: [
          { key: 'n', value: { intValue: '7' } },
          { key: 's', value: { stringValue: 'x' } },
        ],
      },
    ])
  })

  it('share a resource where service and version are the same', () => {
    const request = JSON.parse(toExportRequest([record, { ...record, version: '2.4.0' }, record], 'acme'))
    const resources = request.resourceLogs.map(
      ({ resource, scopeLogs }: { resource: { attributes: object[] }; scopeLogs: { logRecords: object[] }[] }) => [
        resource.attributes,
        scopeLogs[0]!.logRecords.length,
      ],
    )
    expect(resources).to.have.length(2)
    expect(resources[0][0]).to.deep.include({ key: 'service.version', value: { stringValue: '2.3.4' } })
    expect(resources[0][0]).to.deep.include({ key: 'tenant_id', value: { stringValue: 'acme' } })
    expect([resources[0][1], resources[1][1]]).to.deep.equal([2, 1])
  })
})
