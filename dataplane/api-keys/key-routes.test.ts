import { expect } from 'chai'
import { describe, it } from 'mocha'
import { API_KEYS_INDEX } from '../contract/indices.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createMemorySearchStore } from '../testing/memory-search-store.ts'
import { createKeyCheck } from './key-check.ts'
import { apiKeyRoutes } from './key-routes.ts'
import { createApiKeyStore } from './key-store.ts'

describe('DELETE /api/admin/api-keys', () => {
  const clock = createFakeClock()
  const store = createMemorySearchStore()
  const keys = createApiKeyStore({ store, clock })
  const revoke = apiKeyRoutes({ keys, clock }).find(({ method }) => method === 'DELETE')!
  const isRevoked = () => [...store.documents(API_KEYS_INDEX).values()].some(source => 'revokedAt' in source)

  it('a key that is sent in place of its id is told back in its masked form alone', async () => {
    const { key } = (await keys.create('acme', 'mistaken'))!
    const asked = { headers: {}, params: {}, query: undefined, body: { id: key }, tenant: 'acme' }
    const error = await Promise.resolve(revoke.handle(asked)).catch(each => String(each))
    expect(error)
      .to.include(`no such key: ${key.slice(0, 13)}…${key.slice(-4)}`)
      .and.not.include(key.slice(14, 30))
  })

  it('a revoked key stops working at once: the answer comes when no gateway trusts the key any more', async () => {
    const { id, key } = (await keys.create('acme', 'ci'))!
    const elsewhere = createKeyCheck({ keys: createApiKeyStore({ store, clock }), clock, log: SILENT })
    try {
      expect(await elsewhere.check(key)).to.deep.equal({ id, tenant: 'acme' })
      // The process that revokes tells those that check in it. Another process has to find out.
      let isAnswered = false
      const sleepersBefore = clock.sleepers
      const answer = Promise.resolve(revoke.handle({ headers: {}, params: {}, query: undefined, body: { id }, tenant: 'acme' }))
      const answered = answer.then(() => {
        isAnswered = true
      })
      for (let turn = 0; turn < 100 && clock.sleepers === sleepersBefore && !isAnswered; turn++) await new Promise(setImmediate)
      expect([isRevoked(), isAnswered]).to.deep.equal([true, false])
      clock.advance(899)
      await new Promise(setImmediate)
      expect(isAnswered).to.equal(false)
      clock.advance(1)
      await answered
      expect((await answer).body).to.deep.equal({ status: 'ok', revokedId: id })
      expect(await elsewhere.check(key)).to.equal(undefined)
    } finally {
      await elsewhere.stop()
    }
  })
})
