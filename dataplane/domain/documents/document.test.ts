import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { splitMembers } from '../../json/text-members.ts'
import type { FlatRecord } from '../records/flat-record-fields.ts'
import { CustomKeys, keySetId } from './custom-keys.ts'
import { buildDocument, foldDocument, NO_ANOMALY, placeAttributes } from './document.ts'
import { isCanonicalName, isTopLevelKey } from './field-names.ts'
import { fieldPaths } from './field-paths.ts'

const RECORD: FlatRecord = {
  document_id: 'd',
  index_day: '2026.11.21',
  '@timestamp': '2026-11-21T12:00:00.000Z',
  nanos: 0,
  time_unix_nano: '1',
  log_id: 'l',
  tenant_id: 'default',
  service: 's',
  level: 'INFO',
  message: 'm',
  pattern_id: 'p',
  pattern: 'm',
  ml_error_rate_1h: 0,
  ml_p99_latency_1h: 0,
  ml_request_rate_1h: 0,
  ml_anomaly_history_count: 0,
  enriched: true,
}

const admitAll = () => true

function documentOf(attributes: Readonly<Record<string, string>>, admit: (path: string) => boolean = admitAll) {
  return JSON.parse(buildDocument(RECORD, placeAttributes(new Map(Object.entries(attributes)), admit), NO_ANOMALY))
}

describe('the indexed log document', () => {
  it('has timestamp, anomaly_score 0 and is_anomaly false, and nothing of the bus', () => {
    const document = documentOf({})
    expect(document).to.include({
      timestamp: '2026-11-21T12:00:00.000Z',
      anomaly_score: 0,
      is_anomaly: false,
      nanos: 0,
      time_unix_nano: '1',
    })
    expect(document).to.not.have.any.keys('@timestamp', 'document_id', 'index_day', 'attributes')
  })

  it('custom OTLP attributes are top-level fields; a key such as user.id keeps its dotted name', () => {
    expect(documentOf({ 'user.id': '"17"', plan: '"pro"' })).to.include({ 'user.id': '17', plan: 'pro' })
  })

  it('a 64-bit integer stands in it without loss', () => {
    const json = buildDocument(RECORD, placeAttributes(new Map([['n', '9223372036854775807']]), admitAll), NO_ANOMALY)
    expect(json).to.contain('"n":9223372036854775807')
  })

  const places = [
    { key: 'user.id', topLevel: true },
    { key: 'deployment.environment.name', topLevel: true },
    { key: '__proto__', topLevel: true },
    { key: 'service.version', topLevel: false },
    { key: 'host.name', topLevel: false },
    { key: 'message', topLevel: false },
    { key: 'is.anomaly', topLevel: false },
    { key: 'tenant.id', topLevel: false },
    { key: 'ml.error.rate.1h', topLevel: false },
    { key: 'attributes.x', topLevel: false },
    { key: '_id', topLevel: false },
    { key: '', topLevel: false },
    { key: 'a..b', topLevel: false },
    { key: '.a', topLevel: false },
    { key: 'a.', topLevel: false },
    { key: 'a. .b', topLevel: false },
    { key: 'x'.repeat(600), topLevel: false },
    { key: `${'a.'.repeat(30)}a`, topLevel: false },
  ]
  for (const { key, topLevel } of places)
    it(`${JSON.stringify(key.slice(0, 40))} stands ${topLevel ? 'at the top level' : 'in attributes'}`, () => {
      expect(isTopLevelKey(key)).to.equal(topLevel)
      expect(documentOf({ [key]: '"v"' })).to.deep.include(topLevel ? { [key]: 'v' } : { attributes: { [key]: 'v' } })
    })

  it('no attribute can change a protected field, in any spelling that flattens to such a name', () => {
    const names = ['tenant_id', 'is_anomaly', 'anomaly_score', 'log_id', 'ml_error_rate_1h', 'enriched']
    for (const name of names) {
      expect(isCanonicalName(name)).to.equal(true)
      expect(isTopLevelKey(name.replaceAll('_', '.'))).to.equal(false)
    }
  })

  it('a duration that features are made of is a field also behind 300 others, as the template has it', () => {
    const attributes = new Map([
      ['duration_ms', '12'],
      ['latency_ms', '"12 ms"'],
      ['further', '1'],
    ])
    const { topLevel, folded } = placeAttributes(attributes, () => false)
    expect([...topLevel.keys()]).to.deep.equal(['duration_ms'])
    expect([...folded.keys()]).to.deep.equal(['latency_ms', 'further'])
  })

  it('a tenant’s 301st and later distinct custom key of a day stand in attributes', () => {
    const keys = new CustomKeys()
    const admit = (path: string) => keys.admit('default', '2026.11.21', path)
    const many = Object.fromEntries(Array.from({ length: 302 }, (_, i) => [`k${i}`, '1']))
    const document = documentOf(many, admit)
    expect(document.attributes).to.deep.equal({ k300: 1, k301: 1 })
    expect(documentOf({ k5: '2', new: '3' }, admit)).to.deep.include({ k5: 2, attributes: { new: 3 } })
    expect(keys.admit('other', '2026.11.21', 'new')).to.equal(true)
    expect(keys.admit('default', '2026.11.22', 'new')).to.equal(true)
  })

  it('objects in an array count by their leaves', () => {
    expect(fieldPaths('a', '[{"b":1,"c":{"d":2}},{"b":3},4]')).to.deep.equal(['a.b', 'a.c.d', 'a'])
    expect(fieldPaths('a', '["{"]')).to.deep.equal(['a'])
  })

  it('refused, it keeps durations that features are made of where they are, and gives them up when refused again', () => {
    const custom = new Map([
      ['duration_ms', '12.5'],
      ['latency_ms', '"140"'],
      ['response_time_ms', '"12 ms"'],
      ['http.server.request.duration', '1e400'],
      ['code', '"E5"'],
    ])
    const document = buildDocument(RECORD, placeAttributes(custom, admitAll), NO_ANOMALY)
    const { duration_ms, latency_ms, attributes } = JSON.parse(foldDocument(document))
    expect({ duration_ms, latency_ms }).to.deep.equal({ duration_ms: 12.5, latency_ms: '140' })
    expect(Object.keys(attributes)).to.deep.equal(['response_time_ms', 'http.server.request.duration', 'code'])
    const again = foldDocument(foldDocument(document))
    expect(JSON.parse(again)).to.not.have.any.keys('duration_ms', 'latency_ms')
    expect(JSON.parse(again).attributes).to.include({ duration_ms: 12.5, latency_ms: '140', code: 'E5' })
    expect(foldDocument(again)).to.equal(again)
  })

  it('refused, it is tried with all custom attributes in attributes', () => {
    const json = buildDocument(
      RECORD,
      placeAttributes(
        new Map([
          ['user.id', '9223372036854775807'],
          ['host.name', '"h"'],
        ]),
        admitAll,
      ),
      NO_ANOMALY,
    )
    const folded = foldDocument(json)
    expect(folded).to.contain('"attributes":{"user.id":9223372036854775807,"host.name":"h"}')
    expect(JSON.parse(folded)).to.include({ message: 'm', is_anomaly: false }).and.not.have.property('user.id')
    expect(foldDocument(folded)).to.equal(folded)
  })

  it('holds long texts as lists of pieces, since OpenSearch refuses a term of more than 32,766 bytes', () => {
    const long = `${'€'.repeat(15_999)}😀"\\`
    const attributes = new Map([
      ['stack', JSON.stringify(long)],
      ['host.list', `[9223372036854775807,${JSON.stringify(long)},{"q":${JSON.stringify(long)}}]`],
      ['k'.repeat(9_000), '"a"'],
    ])
    const folded = foldDocument(buildDocument(RECORD, placeAttributes(attributes, admitAll), NO_ANOMALY))
    expect(folded).to.contain('[9223372036854775807,')
    expect(folded.match(/"[^"]{8001,}"(?!:)/)).to.equal(null)
    const read = JSON.parse(folded).attributes
    expect(read.stack.join('')).to.equal(long)
    expect(read.stack.map((piece: string) => piece.length)).to.deep.equal([8_000, 7_999, 4])
    expect(read['host.list'].slice(1, 4).join('')).to.equal(long)
    expect(read['host.list'][4].q.join('')).to.equal(long)
    expect(read['k'.repeat(9_000)]).to.equal('a')
    expect(foldDocument(folded)).to.equal(folded)
  })

  it('cuts keys that no term can hold, and keeps them whole beside', () => {
    const long = `${'k'.repeat(999)}😀${'é'.repeat(16_000)}`
    const attributes = new Map([
      [long, '9223372036854775807'],
      [`${long}!`, '"other"'],
      ['m'.repeat(20_000), JSON.stringify('€'.repeat(9_000))],
      ['list', `[{${JSON.stringify(long)}:{"a":1}}]`],
      ['fits', `[{${JSON.stringify('k'.repeat(9_000))}:"a"}]`],
    ])
    const folded = foldDocument(buildDocument(RECORD, placeAttributes(attributes, admitAll), NO_ANOMALY))
    const read = JSON.parse(folded).attributes
    const [first, firstKey, second, secondKey, third, thirdKey, ...rest] = Object.keys(read).filter(key => !['list', 'fits'].includes(key))
    for (const key of [first, second]) expect(key).to.match(/^k{999}~[0-9a-f]{16}$/)
    expect(rest).to.deep.equal([])
    expect([firstKey, secondKey, thirdKey]).to.deep.equal([`${first}.key`, `${second}.key`, `${third}.key`])
    expect(folded).to.contain(`${JSON.stringify(first)}:9223372036854775807`)
    expect(read[firstKey!].join('')).to.equal(long)
    expect([read[second!], read[secondKey!].join('')]).to.deep.equal(['other', `${long}!`])
    expect([read[third!].join(''), read[thirdKey!].join('')]).to.deep.equal(['€'.repeat(9_000), 'm'.repeat(20_000)])
    expect(JSON.parse(read.list.join(''))).to.deep.equal([{ [long]: { a: 1 } }])
    expect(read.fits).to.deep.equal([{ ['k'.repeat(9_000)]: 'a' }])
    expect(foldDocument(folded)).to.equal(folded)
  })
})

describe('members of a JSON object as text', () => {
  it('are those that JSON.parse sees', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), object => {
        const members = splitMembers(JSON.stringify(object))
        expect(Object.fromEntries([...members].map(([key, json]) => [key, JSON.parse(json)]))).to.deep.equal(
          JSON.parse(JSON.stringify(object)),
        )
      }),
      { seed: 8 },
    )
  })
})

describe('a set of keys', () => {
  it('has an id that tells it from others', () => {
    expect(keySetId([])).to.equal('')
    expect(keySetId(['a', 'b']))
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(keySetId(['a,b']))
  })
})
