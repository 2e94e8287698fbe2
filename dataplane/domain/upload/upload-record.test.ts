import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseEntry } from './parse-entry.ts'
import { LINE_ATTRIBUTE, toLogRecord } from './upload-record.ts'

const UPLOADED = 1_795_348_800_000_000_000n

function recordOf(json: string, line = 7) {
  const parsed = parseEntry(Buffer.from(json))
  if ('problem' in parsed) throw new Error(parsed.problem)
  const { record, service, host } = toLogRecord(parsed.entry, line, UPLOADED)
  const attributes = Object.fromEntries(record.attributes!.map(({ key, value }) => [key, value]))
  const { [LINE_ATTRIBUTE]: lineAttribute, ...others } = attributes
  expect(lineAttribute).to.deep.equal({ intValue: String(line) })
  return { ...record, service, host, attributes: others }
}

describe('an uploaded entry as a log record', () => {
  for (const name of ['message', 'msg', 'body', 'log'])
    it(`has its message from ${name}`, () =>
      expect(recordOf(`{"${name}":"hello"}`)).to.deep.include({ body: { stringValue: 'hello' }, attributes: {} }))

  for (const name of ['level', 'severity'])
    it(`has its level from ${name}`, () =>
      expect(recordOf(`{"${name}":"warning"}`)).to.deep.include({ severityText: 'warning', attributes: {} }))

  for (const name of ['timestamp', 'time', 'ts', '@timestamp'])
    it(`has its time from ${name}`, () => {
      const record = recordOf(`{"${name}":"2026-11-22T12:00:00.000000005Z"}`)
      expect(record).to.deep.include({ timeUnixNano: '1795348800000000005', attributes: {} })
    })

  for (const name of ['trace_id', 'traceId'])
    it(`has its trace from ${name}`, () => {
      const id = '0AF7651916CD43DD8448EB211C80319C'
      expect(recordOf(`{"${name}":"${id}"}`)).to.deep.include({ traceId: id.toLowerCase(), attributes: {} })
    })

  for (const name of ['span_id', 'spanId'])
    it(`has its span from ${name}`, () =>
      expect(recordOf(`{"${name}":"b7ad6b7169203331"}`)).to.deep.include({ spanId: 'b7ad6b7169203331', attributes: {} }))

  it('has its service and host', () =>
    expect(recordOf('{"service":"shop","host":"web-1"}')).to.deep.include({ service: 'shop', host: 'web-1', attributes: {} }))

  it("without a time gets the upload's time plus its line number in nanoseconds", () => {
    expect(recordOf('{"message":"a"}', 7).timeUnixNano).to.equal(String(UPLOADED + 7n))
    expect(recordOf('{"message":"a"}', 8).timeUnixNano).to.equal(String(UPLOADED + 8n))
  })

  it('keeps everything else as typed attributes', () => {
    const { attributes } = recordOf(
      '{"user.id":"u1","count":3,"share":0.5,"whole":2.0,"ok":true,"none":null,"list":[1,"a",null],"map":{"a":{"b":1}},"id":9007199254740993,"huge":18446744073709551615,"far":1e999}',
    )
    expect(attributes).to.deep.equal({
      'user.id': { stringValue: 'u1' },
      count: { intValue: '3' },
      share: { doubleValue: 0.5 },
      whole: { doubleValue: 2 },
      ok: { boolValue: true },
      list: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'a' }, {}] } },
      map: { kvlistValue: { values: [{ key: 'a', value: { kvlistValue: { values: [{ key: 'b', value: { intValue: '1' } }] } } }] } },
      id: { intValue: '9007199254740993' },
      huge: { doubleValue: 2 ** 64 },
      far: { doubleValue: 'Infinity' },
    })
  })

  it('keeps as attributes what a recognised field cannot mean, and the second of two', () => {
    const { attributes, timeUnixNano } = recordOf(
      '{"message":"a","msg":"b","timestamp":"soon","time":"2026-11-22T12:00:00Z","level":{"a":1},"trace_id":"nope","service":{"name":"shop"},"host":""}',
    )
    expect(Object.keys(attributes)).to.have.members(['msg', 'timestamp', 'level', 'trace_id', 'service', 'host'])
    expect(timeUnixNano).to.equal('1795348800000000000')
  })

  for (const [json, severity] of [
    ['{"level":30}', { severityText: 'INFO' }],
    ['{"level":20}', { severityText: 'DEBUG' }],
    ['{"level":"50"}', { severityText: 'ERROR' }],
    ['{"severity":20}', { severityNumber: 20 }],
    ['{"level":17}', { severityNumber: 17 }],
    ['{"severity":60}', { severityText: 'FATAL' }],
  ] as const)
    it(`reads the level of ${json}`, () => expect(recordOf(json)).to.deep.include(severity))
})
