import { expect } from 'chai'
import { describe, it } from 'mocha'
import { encodeResponseJson, encodeResponseProtobuf, encodeStatusProtobuf } from './export-response.ts'
import { decodeMessage } from './testing/logs-proto.ts'

const ALL = { rejectedRecords: 0, message: '' }

describe('OTLP responses', () => {
  it('an empty partialSuccess means every record was accepted', () => {
    expect(encodeResponseJson(ALL)).to.equal('{"partialSuccess":{}}')
    expect(encodeResponseProtobuf(ALL)).to.have.length(0)
  })

  it('rejected records are counted, in JSON as a string', () => {
    const some = { rejectedRecords: 300, message: 'too large' }
    expect(JSON.parse(encodeResponseJson(some))).to.deep.equal({
      partialSuccess: { rejectedLogRecords: '300', errorMessage: 'too large' },
    })
    expect(decodeMessage('ExportLogsServiceResponse', encodeResponseProtobuf(some))).to.deep.equal({
      partialSuccess: { rejectedLogRecords: '300', errorMessage: 'too large' },
    })
  })

  it('google.rpc.Status, with RetryInfo where there is a delay', () => {
    expect(decodeMessage('Status', encodeStatusProtobuf({ code: 3, message: 'bad é' }))).to.deep.equal({ code: 3, message: 'bad é' })
    const status = decodeMessage('Status', encodeStatusProtobuf({ code: 14, message: 'later', retryAfterSeconds: 200 }))
    const [detail] = status['details'] as { typeUrl: string; value: string }[]
    expect(detail!.typeUrl).to.equal('type.googleapis.com/google.rpc.RetryInfo')
    expect(decodeMessage('RetryInfo', Buffer.from(detail!.value, 'base64'))).to.deep.equal({ retryDelay: { seconds: '200' } })
  })
})
