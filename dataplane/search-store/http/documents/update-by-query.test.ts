import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { BOTH_ENGINES } from '../../testing/both-engines.ts'
import { useTestStore } from '../../testing/use-test-store.ts'

describe('_update_by_query', () => {
  const store = useTestStore()

  for (const index of BOTH_ENGINES)
    describe(`on ${index}`, () => {
      const post = (path: string, body?: object) => store.request('POST', `/${index}/${path}`, body)

      before(async () => {
        await store.request('PUT', `/${index}`, { mappings: { dynamic: false, properties: { n: { type: 'long' } } } })
        // More than a batch has, and one portion of documents that are read.
        const documents = Array.from({ length: 2_500 }, (_none, n) => [
          { index: { _id: `d${n}` } },
          { n, text: 'x'.repeat(5_000), late: n % 10 },
        ])
        const lines = documents.flat().map(line => JSON.stringify(line))
        await store.request('POST', `/${index}/_bulk`, `${lines.join('\n')}\n`)
      })

      it('indexes what the mapping has got since', async () => {
        await store.request('PUT', `/${index}/_mapping`, { properties: { late: { type: 'integer' } } })
        const { status, body } = await post('_update_by_query?refresh&conflicts=proceed')
        expect(status).to.equal(200)
        const { took: _took, ...counts } = body
        expect(counts).to.deep.equal({
          ...{ timed_out: false, total: 2_500, updated: 2_500, deleted: 0, batches: 3, version_conflicts: 0, noops: 0 },
          ...{ retries: { bulk: 0, search: 0 }, throttled_millis: 0, requests_per_second: -1, throttled_until_millis: 0, failures: [] },
        })
        expect((await post('_count', { query: { term: { late: 3 } } })).body.count).to.equal(250)
        const { body: document } = await store.request('GET', `/${index}/_doc/d7`)
        expect(document).to.deep.include({ _version: 2, _source: { n: 7, text: 'x'.repeat(5_000), late: 7 } })
      })

      it('takes a query and a number of documents', async () => {
        const { body } = await post('_update_by_query?max_docs=3', { query: { range: { n: { lt: 10 } } } })
        expect(body).to.deep.include({ total: 3, updated: 3 })
        expect((await post('_update_by_query?q=n:5')).body).to.deep.include({ total: 1, updated: 1 })
        expect((await post('_update_by_query', { query: { term: { n: -1 } } })).body).to.deep.include({ total: 0, updated: 0, batches: 0 })
      })

      it('counts documents that changed meanwhile as conflicts, and goes on where told', async () => {
        const lines = Array.from({ length: 50 }, (_none, n) => `{"update":{"_id":"d${n}"}}\n{"doc":{"seen":"SOME"}}\n`).join('')
        const race = async (conflicts: string, seen: number) => {
          const [answer] = await Promise.all([
            post(`_update_by_query?conflicts=${conflicts}`, { query: { range: { n: { lt: 50 } } } }),
            store.request('POST', `/${index}/_bulk`, lines.replaceAll('SOME', String(seen))),
          ])
          const { updated, version_conflicts, total } = answer.body
          expect(answer.status).to.equal(conflicts === 'abort' && version_conflicts > 0 ? 409 : 200)
          expect(updated + version_conflicts).to.equal(total)
          expect(answer.body.failures).to.have.length(conflicts === 'abort' ? version_conflicts : 0)
        }
        for (let round = 0; round < 4; round++) await race(round % 2 === 0 ? 'proceed' : 'abort', round)
        expect((await store.request('GET', `/${index}/_doc/d0`)).body._source.seen).to.equal('3')
      })

      it('refuses scripts and pipelines by name', async () => {
        const script = await post('_update_by_query', { script: { source: 'ctx._source.n++' } })
        expect([script.status, script.body.error.reason]).to.deep.equal([
          400,
          '_update_by_query with a [script] is not supported by the embedded search store',
        ])
        expect((await post('_update_by_query?pipeline=p')).body.error.reason).to.contain('[pipeline]')
        expect((await post('_update_by_query?conflicts=maybe')).body.error.reason).to.contain('conflicts may only be')
      })
    })
})
