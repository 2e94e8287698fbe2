import { expect } from 'chai'
import { describe, it } from 'mocha'
import { exportLines } from '../pages/logs/export/csv.ts'
import { fieldsOf, readRecords, valueAt } from '../pages/logs/records/log-record.ts'
import { readFacets } from '../pages/logs/requests/facets.ts'
import { withFieldsOf } from '../pages/logs/requests/fields.ts'
import { KNOWN_FIELDS } from '../pages/logs/search/field-catalog.ts'
import { translateSearch } from '../pages/logs/search/to-query.ts'
import { parseJson } from './exact-json.ts'

const LONG = '9007199254740993'
const SOURCE = `{"service":"orders","order.id":${LONG},"n":7,"d":1e300,"attributes":{"user.id":-${LONG}},"ids":[${LONG}]}`
const read = () => readRecords(parseJson(`{"hits":{"hits":[{"_id":"1","_index":"i","_source":${SOURCE}}]}}`))

describe('numbers beyond those of JavaScript', () => {
  it('keep all their digits as fields and columns of a record, and can be searched for', () => {
    const [record] = read()
    const fields = Object.fromEntries(fieldsOf(record!).map(({ field, value, isSearchable }) => [field, [value, isSearchable]]))
    expect(fields['order.id']).to.deep.equal([LONG, true])
    expect(fields['attributes.user.id']).to.deep.equal([`-${LONG}`, true])
    expect(fields['ids']![0]).to.equal(`[${LONG}]`)
    expect(valueAt(record!.source, 'order.id')).to.equal(LONG)
    const catalog = withFieldsOf(KNOWN_FIELDS, [record!])
    expect(catalog.get('order.id')).to.equal('number')
    expect(translateSearch(`order.id:${LONG}`, catalog)).to.deep.include({ query: { term: { 'order.id': LONG } } })
  })

  it('are exported as they were sent', () => {
    expect(exportLines('ndjson', [], read())).to.equal(`${SOURCE.replace('1e300', '1e+300')}\n`)
    expect(exportLines('csv', ['order.id', 'n'], read())).to.equal(`${LONG},7\r\n`)
    expect(JSON.stringify(read()[0]!.source, undefined, 1)).to.include(`: ${LONG}`)
  })

  it('are values of a facet', () => {
    const answer = parseJson(
      `{"aggregations":{"f0":{"sum_other_doc_count":0,"buckets":[{"key":${LONG},"doc_count":2},{"key":7,"doc_count":1}]}}}`,
    )
    expect(readFacets(['order.id'], answer)[0]!.values).to.deep.equal([
      { value: LONG, count: 2 },
      { value: '7', count: 1 },
    ])
  })

  it('are those alone: others, and texts that look like them, stay as they are', () => {
    for (const text of [
      '[1,2.5,-3,1e3,true,null]',
      `{"a":"x: ${LONG}, y"}`,
      '[9007199254740991,-9007199254740991]',
      '{"__proto__":{"a":1}}',
    ])
      expect(JSON.stringify(parseJson(text))).to.equal(JSON.stringify(JSON.parse(text)))
    expect(parseJson('{"a":5}')).to.deep.equal({ a: 5 })
    expect(() => parseJson('{')).to.throw(SyntaxError)
  })
})
