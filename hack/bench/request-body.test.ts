import { expect } from 'chai'
import { describe, it } from 'mocha'
import { transcodeProtobuf } from '../../dataplane/otlp/protobuf/transcode-protobuf.ts'
import type { GeneratedRequest } from './generator.ts'
import { buildRequestBodies, type Encoding } from './request-body.ts'

const NOW = 1_795_272_301_750_000_000n

function read(encoding: Encoding, bytes: Buffer): GeneratedRequest {
  const text = encoding === 'json' ? bytes : transcodeProtobuf(bytes, { observedTimeUnixNano: '0' }).text
  return JSON.parse(Buffer.from(text).toString())
}

describe('benchmark request bodies', () => {
  it('are the same on every run, and the same in both encodings', () => {
    const [json] = buildRequestBodies('json', 50, 50)
    const [again] = buildRequestBodies('json', 50, 50)
    const [protobuf] = buildRequestBodies('protobuf', 50, 50)
    expect(json!.bytes).to.deep.equal(again!.bytes)
    expect(read('protobuf', protobuf!.bytes)).to.deep.equal(read('json', json!.bytes))
  })

  for (const encoding of ['json', 'protobuf'] as const)
    it(`${encoding}: renew gives every record a time and ids of its own and changes nothing else`, () => {
      const [body] = buildRequestBodies(encoding, 50, 50)
      const before = read(encoding, body!.bytes).resourceLogs[0]
      body!.renew(NOW)
      const after = read(encoding, body!.bytes).resourceLogs[0]
      expect(after.resource).to.deep.equal(before.resource)
      for (const [i, record] of after.scopeLogs[0].logRecords.entries()) {
        const original = before.scopeLogs[0].logRecords[i]!
        expect(record.timeUnixNano).to.equal(String(NOW + BigInt(i)))
        expect(record.observedTimeUnixNano).to.equal(record.timeUnixNano)
        expect(record.attributes).to.deep.equal(original.attributes)
        expect(record.traceId?.length).to.equal(original.traceId?.length)
        if (record.traceId !== undefined) expect(record.traceId).to.not.equal(original.traceId)
        const mask = (text: string) => text.replace(/(session=|ord-)[0-9a-f]+/, '$1')
        expect(mask(record.body.stringValue)).to.equal(mask(original.body.stringValue))
      }
    })
})
