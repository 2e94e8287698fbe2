import { expect } from 'chai'
import { describe, it } from 'mocha'
import { countOf, isFiltered, listQuery, NO_FILTERS, readCounts, readFilters, statusesOf, writeFilters } from './incident-filters.ts'

const read = (text: string) => readFilters(new URLSearchParams(text))

describe('filters of the list of incidents', () => {
  it('stand in the URL, and nothing does that is as usual', () => {
    expect(read('')).to.deep.equal(NO_FILTERS)
    const text = 'status=resolved&severity=high&service=a%20b&since=7d&recurring=show&order=newest'
    const set = Object.entries(writeFilters(read(text))).filter((entry): entry is [string, string] => entry[1] !== undefined)
    expect(new URLSearchParams(set).toString()).to.equal(text.replace('%20', '+'))
    expect(Object.values(writeFilters(NO_FILTERS)).filter(Boolean)).to.deep.equal([])
  })

  it('that the list does not know are as none', () => {
    expect(read('status=gone&severity=worse&service=&since=toString&order=x')).to.deep.equal(NO_FILTERS)
    expect([isFiltered(read('')), isFiltered(read('service=a')), isFiltered(read('order=newest'))]).to.deep.equal([false, true, false])
  })

  it('become requests of one status each', () => {
    expect(statusesOf('unresolved')).to.have.members(['open', 'acknowledged', 'escalated'])
    expect(statusesOf('all')).to.deep.equal([undefined])
    const nowMs = Date.parse('2026-01-02T00:00:30Z')
    expect(listQuery(read('severity=low&since=24h'), { status: 'open', severity: 'low', cursor: 'c', nowMs })).to.deep.equal({
      ...{ limit: '200', status: 'open', severity: 'low', recurring: 'false', cursor: 'c' },
      from: '2026-01-01T00:00:00.000Z',
    })
    expect(listQuery(read('recurring=show'), { nowMs })).to.deep.equal({ limit: '200' })
  })

  it('counts are read, and summed for choices of several statuses', () => {
    const bucket = (key: string, doc_count: number) => ({ key, doc_count })
    const counts = readCounts({
      aggregations: {
        status: { values: { buckets: [bucket('open', 2), bucket('acknowledged', 1), bucket('resolved', 9)] } },
        recurring: { doc_count: 4 },
      },
    })
    expect(counts).to.deep.include({ severity: {}, recurring: 4 })
    expect([countOf(counts, 'unresolved'), countOf(counts, 'all'), countOf(counts, 'escalated')]).to.deep.equal([3, 12, 0])
    expect(readCounts({}).status).to.deep.equal({})
  })
})
