/** Pages by `search_after`: each hit comes once, with values at the borders of types and with missing ones too. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

/** JSON of values at the borders of each type, and such as doubles and floats show otherwise than they came. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  long: ['9223372036854775807', '-9223372036854775808', '9007199254740993', '9007199254740992', '0'],
  integer: ['2147483647', '-2147483648', '0'],
  short: ['32767', '-32768', '0'],
  byte: ['127', '-128'],
  unsigned_long: ['18446744073709551615', '0', '9007199254740993', '1'],
  double: ['1e20', '3.4e38', '-1e300', '0.30000000000000004', '9223372036854775807', '1e-320', '0'],
  float: ['1e-7', '3.4e38', '16777217', '0.1', '-0.3', '1e20'],
  boolean: ['true', 'false'],
  date: ['"1969-12-31T23:59:59.999Z"', '"0001-01-01"', '"9999-12-31"', '0', '"2026-01-02T03:04:05.678Z"'],
  date_nanos: ['"2026-01-02T03:04:05.123456789Z"', '"2026-01-02T03:04:05.123456788Z"', '"1970-01-01T00:00:00.000000001Z"'],
  keyword: ['""', '"a"', '"\\uffff"', '"😀"', '"null"', '"Infinity"'],
}
const TYPES = Object.keys(VALUES)
const INDICES = ['service-logs-pages', 'pages']

const raw = JSON as unknown as { rawJSON(text: string): unknown }
/** Numbers as they came, with all their digits. */
const parseRaw = (text: string) =>
  JSON.parse(text, ((_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? raw.rawJSON(source!) : value) as (key: string, value: unknown) => unknown)

describe('pages by search_after', function () {
  this.timeout(60_000)
  let store: TestStore
  let count = 0

  before(async () => {
    store = await startTestStore()
    const properties = { n: { type: 'integer' }, ...Object.fromEntries(TYPES.map(type => [type, { type }])) }
    for (const index of INDICES) await store.request('PUT', `/${index}`, { mappings: { properties } })
    const lines: string[] = []
    for (const index of INDICES) {
      count = 0
      // Each value twice, and documents that lack it before, between and behind.
      for (let k = 0; k < 16; k++) {
        const members = TYPES.flatMap(type => {
          const value = VALUES[type]![k >> 1]
          return value === undefined ? [] : [`"${type}":${value}`]
        })
        lines.push(`{"create":{"_index":"${index}","_id":"${index}-${count}"}}`, `{${[`"n":${count}`, ...members].join()}}`)
        count++
      }
    }
    const { body } = await store.request('POST', '/_bulk', `${lines.join('\n')}\n`)
    expect(body.errors, JSON.stringify(body.items)).to.equal(false)
  })
  after(async () => {
    expect(store.logged).to.deep.equal([])
    await store.stop()
  })

  const search = async (target: string, body: object) => {
    const { status, text } = await store.request('POST', `/${target}/_search`, body)
    expect(status, text).to.equal(200)
    return (parseRaw(text) as { hits: { hits: { _id: string; sort: unknown[] }[] } }).hits.hits
  }

  async function expectPages(target: string, sort: readonly object[], size: number): Promise<void> {
    const whole = (await search(target, { size: 1000, sort })).map(({ _id }) => _id)
    const paged: string[] = []
    for (let page = await search(target, { size, sort }); page.length > 0 && paged.length <= whole.length; ) {
      paged.push(...page.map(({ _id }) => _id))
      page = await search(target, { size, sort, search_after: page.at(-1)!.sort })
    }
    expect(paged, JSON.stringify(sort)).to.deep.equal(whole)
    expect(new Set(whole).size).to.equal(target.includes(',') ? 2 * count : count)
  }

  for (const type of TYPES)
    it(`hold each hit once: ${type}`, async () => {
      for (const target of [...INDICES, INDICES.join()])
        for (const order of ['asc', 'desc'])
          for (const missing of ['_last', '_first']) {
            const tie = target.includes(',') ? [{ n: 'asc' }, { _index: 'asc' }] : [{ n: 'asc' }]
            await expectPages(target, [{ [type]: { order, missing } }, ...tie], target === 'pages' ? 2 : 5)
          }
    })

  it('hold each hit once where an index lacks the field', async () => {
    await store.request('PUT', '/lacks/_doc/lacks-0', { n: 3 })
    for (const type of TYPES)
      for (const order of ['asc', 'desc']) {
        const sort = [{ [type]: { order, unmapped_type: type } }, { n: 'asc' }]
        const found = (await search('pages,lacks', { size: 1000, sort })).map(({ _id }) => _id)
        const one = await search('pages,lacks', { size: 5, sort })
        const rest = await search('pages,lacks', { size: 1000, sort, search_after: one.at(-1)!.sort })
        expect(
          [...one, ...rest].map(({ _id }) => _id),
          `${type} ${order}`,
        ).to.deep.equal(found)
      }
  })
})
