import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { startTestStore } from '../testing/test-store.ts'
import { useTestStore } from '../testing/use-test-store.ts'

/** Method, what stands behind the index in the path, body; status and body for a pattern that matches nothing, in OpenSearch 3. */
const EMPTY_PATTERN: readonly (readonly [method: string, rest: string, body: object | undefined, status: number])[] = [
  ['PUT', '/_mapping', { properties: { a: { type: 'long' } } }, 404],
  ['PUT', '/_settings', { 'index.refresh_interval': '5s' }, 404],
  ['PUT', '/_alias/other', undefined, 404],
  ['DELETE', '/_alias/other', undefined, 404],
  ['GET', '/_mapping/field/a', undefined, 404],
  ['GET', '/_mapping', undefined, 200],
  ['GET', '/_settings', undefined, 200],
  ['GET', '/_alias', undefined, 200],
  ['GET', '', undefined, 200],
  ['DELETE', '', undefined, 200],
  ['POST', '/_refresh', undefined, 200],
  ['POST', '/_flush', undefined, 200],
  ['GET', '/_stats', undefined, 200],
  ['GET', '/_field_caps?fields=*', undefined, 200],
  ['POST', '/_search', {}, 200],
  ['POST', '/_count', {}, 200],
  ['POST', '/_validate/query', {}, 200],
  ['POST', '/_delete_by_query', { query: { match_all: {} } }, 200],
  ['POST', '/_update_by_query', {}, 200],
]

const withParameters = (rest: string, parameters: string) => `${rest}${rest.includes('?') ? '&' : '?'}${parameters}`

describe('an index expression that stands for no index', () => {
  const store = useTestStore()
  before(async () => {
    await store.request('PUT', '/there')
  })

  for (const [method, rest, body, status] of EMPTY_PATTERN) {
    it(`is answered as by OpenSearch: ${method} /{index}${rest}`, async () => {
      const answer = await store.request(method, `/nomatch-*${rest}`, body)
      expect(answer.status).to.equal(status)
      if (status === 404 && method !== 'GET') expect(answer.body.error.type).to.equal('index_not_found_exception')
      expect((await store.request(method, `/there,missing${rest}`, body)).body.error.type).to.equal('index_not_found_exception')
      const strict = withParameters(rest, 'allow_no_indices=false')
      expect((await store.request(method, `/nomatch-*${strict}`, body)).body.error.type).to.equal('index_not_found_exception')
      if (status === 200 || rest.includes('field')) return
      const lenient = withParameters(rest, 'allow_no_indices=true')
      if (!rest.startsWith('/_alias')) expect((await store.request(method, `/nomatch-*${lenient}`, body)).status).to.equal(200)
      const ignoring = withParameters(rest, 'ignore_unavailable=true')
      expect((await store.request(method, `/missing${ignoring}`, body)).body.error.type).to.equal('index_not_found_exception')
    })
  }

  it('is refused where all indices are meant and there are none, when that is not allowed', async () => {
    const empty = await startTestStore()
    for (const name of ['_all', '*']) {
      const { status, body } = await empty.request('PUT', `/${name}/_mapping`, { properties: { a: { type: 'long' } } })
      expect([status, body.error.type]).to.deep.equal([404, 'index_not_found_exception'])
    }
    expect((await empty.request('PUT', '/_settings', { 'index.refresh_interval': '5s' })).status).to.equal(404)
    await empty.stop()
  })
})
