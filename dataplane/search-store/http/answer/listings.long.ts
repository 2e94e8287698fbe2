import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'

const INDICES = 120

describe('answers about many indices', () => {
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    const properties = Object.fromEntries(Array.from({ length: 300 }, (_none, at) => [`field${at}`, { type: 'keyword' }]))
    for (let at = 0; at < INDICES; at++) await store.request('PUT', `/many-${at}`, { mappings: { properties } })
  })
  after(async () => {
    await store.stop()
    expect(store.logged).to.deep.equal([])
  })

  /** Megabytes each, and the same for every filter. */
  const whole = new Map<string, string>()
  const readWhole = async (path: string): Promise<unknown> => {
    const text = whole.get(path) ?? (await store.request('GET', path)).text
    whole.set(path, text)
    return JSON.parse(text)
  }

  for (const path of [
    '/_mapping',
    '/many-*',
    '/_settings',
    '/_stats',
    '/_alias',
    '/_cluster/health?level=indices',
    '/_field_caps?fields=*',
  ])
    for (const filter of ['**.type', '*.mappings', 'indices', 'indices.many-1*.**.count', '-many-1*', '_all,status', 'nothing'])
      it(`${path}: filter_path ${filter} keeps of it what it keeps of any answer`, async () => {
        const answer = await readWhole(path)
        const { text } = await store.request('GET', `${path}${path.includes('?') ? '&' : '?'}filter_path=${filter}`)
        expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(applyFilterPath(answer, parseFilterPath(filter)!))))
      })

  it('are refused when they would be too long, and pretty has no effect on long ones', async () => {
    const names = Array.from({ length: INDICES }, (_none, at) => `many-${at}`)
    const long = Array.from({ length: 16 }, (_none, at) => [`object${at}`, { properties: { ['x'.repeat(20_000)]: { type: 'long' } } }])
    await store.request('PUT', '/many-*/_mapping', { properties: Object.fromEntries(long) })
    const refused = await store.request('GET', '/_mapping')
    expect(refused.status).to.equal(400)
    expect(refused.body.error.type).to.equal('circuit_breaking_exception')
    const some = await store.request('GET', `/${names.slice(0, 20).join(',')}/_mapping?pretty`)
    expect(some.status).to.equal(200)
    expect(some.text).to.not.include('\n')
    const few = await store.request('GET', '/many-0/_mapping?pretty')
    expect(few.text).to.include('\n')
  })

  it('list hundreds of thousands of aliases, which come in requests of bounded size', async () => {
    const change = (from: number, count: number) =>
      store.request('POST', '/_aliases', {
        actions: [{ add: { index: 'many-*', aliases: Array.from({ length: count }, (_none, at) => `alias${from + at}`) } }],
      })
    expect((await change(0, 200)).status).to.equal(400)
    for (let from = 0; from < 1300; from += 160) expect((await change(from, 160)).status).to.equal(200)
    const { status, text } = await store.request('GET', '/_cat/aliases?h=is_write_index')
    expect(status).to.equal(200)
    expect(text.split('\n').length - 1).to.equal(9 * 160 * INDICES)
  }).timeout(30_000)

  it('take a bounded number of patterns', async () => {
    const fields = Array.from({ length: 101 }, (_none, at) => `f*${at}`)
    expect((await store.request('POST', '/_field_caps', { fields })).status).to.equal(400)
    expect((await store.request('POST', '/_field_caps', { fields: fields.slice(1) })).status).to.equal(200)
  })
})
