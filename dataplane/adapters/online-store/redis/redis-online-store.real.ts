import { createClient } from '@redis/client'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type OnlineStore, OnlineStoreUnavailable } from '../../../ports/online-store.ts'
import { describeOnlineStore } from '../testing/online-store-suite.ts'
import { createRedisOnlineStore } from './redis-online-store.ts'
import { type RedisProcess, startRedis } from './testing/redis-process.ts'

describeOnlineStore('Redis', async context => {
  const redis = await startRedis(context)
  return { open: async () => createRedisOnlineStore({ url: redis.url }), stop: () => redis.kill() }
})

describe('a Redis that is gone', () => {
  const TIMEOUT_MS = 200
  let redis: RedisProcess | undefined
  let store: OnlineStore
  before(async function () {
    redis = await startRedis(this)
    store = createRedisOnlineStore({ url: redis.url, timeoutMs: TIMEOUT_MS })
  })
  after(async () => {
    await store?.close()
    await redis?.kill()
  })

  const row = { tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 0.3 }, eventMs: 1, writtenMs: 2 }
  const command = async (words: readonly string[]) => {
    const client = createClient({ url: redis!.url })
    await client.connect()
    await client.sendCommand([...words])
    client.destroy()
  }
  /** The first call after a restart may find the old connection. */
  const eventuallyWrites = () => store.write([row]).catch(() => store.write([row]))
  const failure = () =>
    store.version().then(
      () => undefined,
      (error: unknown) => error,
    )

  it('killed: every call fails at once; started again: the next call works', async () => {
    await store.write([row])
    await redis!.kill()
    expect(await failure()).to.be.instanceOf(OnlineStoreUnavailable)
    expect(await failure()).to.be.instanceOf(OnlineStoreUnavailable)
    await redis!.restart()
    await store.write([row])
    expect(await store.read([row])).to.deep.equal([row])
  })

  it('hanging: calls fail within the time-out, many at once too; once it answers again so does the store', async () => {
    redis!.pause()
    const startedMs = performance.now()
    const failures = await Promise.all([failure(), failure(), failure()])
    for (const error of [...failures, await failure()]) expect(error).to.be.instanceOf(OnlineStoreUnavailable)
    expect(performance.now() - startedMs).to.be.below(5 * TIMEOUT_MS)
    redis!.resume()
    expect(await store.read([row])).to.deep.equal([row])
  })

  it('started again empty, or emptied: the version is another one, however many writes there were', async () => {
    await redis!.restart()
    const versions: string[] = []
    for (let round = 0; round < 3; round++) {
      await eventuallyWrites()
      versions.push(await store.version())
      if (round === 0) await redis!.restart()
      else await command(['FLUSHALL'])
    }
    expect(new Set(versions).size, versions.join(', ')).to.equal(3)
    expect(await store.version()).not.to.equal(versions[2])
  })

  it('full, and a replica of another: it writes nothing and is read; afterwards it writes again', async () => {
    await eventuallyWrites()
    for (const [state, ended] of [
      [
        ['CONFIG', 'SET', 'maxmemory', '1'],
        ['CONFIG', 'SET', 'maxmemory', '0'],
      ],
      [
        ['REPLICAOF', '127.0.0.1', '1'],
        ['REPLICAOF', 'NO', 'ONE'],
      ],
    ] as const) {
      await command(state)
      const error = await store.write([{ ...row, eventMs: 9 }]).catch((reason: unknown) => reason)
      expect(error, state.join(' ')).to.be.instanceOf(OnlineStoreUnavailable)
      expect(await store.read([row]), state.join(' ')).to.deep.equal([row])
      await command(ended)
      await store.write([row])
    }
  })

  it('an answer that is an error is the store not doing it', async () => {
    const away = createRedisOnlineStore({ url: redis!.url.replace('redis://', 'redis://:wrong@') })
    const error = await away.version().catch((reason: Error) => reason)
    expect(error).to.be.instanceOf(OnlineStoreUnavailable)
    await away.close()
  })

  it('a closed store refuses', async () => {
    const closed = createRedisOnlineStore({ url: redis!.url })
    await closed.close()
    expect(await closed.version().catch((error: Error) => error.message)).to.contain('closed')
  })
})
