import { type ClientRequest, get, request as httpRequest, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

const MIB = 1024 * 1024
/** Documents of a MiB in the index, and how many ids of them stand in a request. */
const DOCUMENTS = 4

describe('answers with many documents', () => {
  let store: TestStore
  const open: ClientRequest[] = []

  before(async () => {
    store = await startTestStore()
    for (const index of ['table', 'service-logs-2026.11.21'])
      for (let at = 0; at < DOCUMENTS; at++) await store.request('PUT', `/${index}/_doc/${at}`, { at, text: 'ä'.repeat(MIB / 2) })
  })
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy()
  })
  after(async () => {
    await store.stop()
    expect(store.logged).to.deep.equal([])
  })

  const idsOf = (count: number) => ({ ids: Array.from({ length: count }, (_none, at) => String(at % DOCUMENTS)) })

  /** Asks, and reads nothing of the answer. */
  function unread(index: string, count: number): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = httpRequest(`${store.url}/${index}/_mget`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        agent: false,
      })
      open.push(asked)
      asked
        .on('response', resolve)
        .on('error', reject)
        .end(JSON.stringify(idsOf(count)))
    })
  }

  for (const index of ['table', 'service-logs-2026.11.21']) {
    it(`come whole and in the order asked for: ${index}`, async () => {
      const { status, body } = await store.request('POST', `/${index}/_mget`, { ids: ['3', 'none', '0', '3'] })
      expect(status).to.equal(200)
      const shown = body.docs.map(({ _id, found, _source }: { _id: string; found: boolean; _source?: { at: number; text: string } }) => [
        _id,
        found,
        _source?.at,
        _source?.text.length,
      ])
      expect(shown).to.deep.equal([
        ['3', true, 3, MIB / 2],
        ['none', false, undefined, undefined],
        ['0', true, 0, MIB / 2],
        ['3', true, 3, MIB / 2],
      ])
    })

    it(`are refused when they would be too large: ${index}`, async () => {
      const { status, body } = await store.request('POST', `/${index}/_mget`, idsOf(70))
      expect([status, body.error.type]).to.deep.equal([400, 'circuit_breaking_exception'])
    })

    it(`share their memory: what finds none is told to come again, and finds it when others are read: ${index}`, async () => {
      const held = [await unread(index, 50), await unread(index, 50)]
      expect(held.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200])
      const refused = await store.request('POST', `/${index}/_mget`, idsOf(50))
      expect([refused.status, refused.body.error.type, refused.headers.get('retry-after')]).to.deep.equal([
        429,
        'circuit_breaking_exception',
        '1',
      ])
      expect((await store.request('POST', `/${index}/_mget`, idsOf(2))).status).to.equal(200)
      await new Promise<void>(resolve => get(`${store.url}/health`, answer => void answer.resume().on('end', () => resolve())))
      for (const answer of held) await new Promise(resolve => answer.on('close', resolve).resume())
      expect((await store.request('POST', `/${index}/_mget`, idsOf(50))).status).to.equal(200)
    })
  }
})
