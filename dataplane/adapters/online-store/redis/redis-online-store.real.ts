import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type OnlineStore, OnlineStoreUnavailable } from '../../../ports/online-store.ts'
import { freePort } from '../../../testing/free-port.ts'
import { describeOnlineStore } from '../testing/online-store-suite.ts'
import { createRedisOnlineStore } from './redis-online-store.ts'
import { type RedisProcess, startRedis } from './testing/redis-process.ts'

const ROW = { tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 0.3 }, eventMs: 1, writtenMs: 2 }

describeOnlineStore('Redis', async context => {
  const redis = await startRedis(context)
  return { open: async () => createRedisOnlineStore({ url: redis.url }), stop: () => redis.kill() }
})

describe('a cluster of Redis', () => {
  const NODE_TIMEOUT_MS = 1_000
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-redis-'))
  const nodes: RedisProcess[] = []
  let store: OnlineStore
  const ask = async (node: number, ...words: readonly string[]) => {
    const client = createClient({ url: nodes[node]!.url })
    await client.connect()
    const answer = await client.sendCommand([...words])
    client.destroy()
    return String(answer)
  }
  const until = async (condition: string, check: () => Promise<boolean>, forMs = 20_000) => {
    for (const deadlineMs = Date.now() + forMs; !(await check()); await sleep(50))
      if (Date.now() > deadlineMs) throw new Error(`not within ${forMs} ms: ${condition}`)
  }
  /** Masters vote once in this time for a replica of the same master. */
  const VOTES_APART_MS = 2 * NODE_TIMEOUT_MS
  /** Asks again: without the vote Redis gives up after five seconds, and does not say so. */
  const makeMaster = async (node: number) => {
    const isMaster = async () => /role:master/.test(await ask(node, 'INFO', 'replication'))
    for (let attempts = 3; ; attempts--)
      try {
        await until(`node ${node} follows its master`, async () =>
          /master_link_status:up|role:master/.test(await ask(node, 'INFO', 'replication')),
        )
        await sleep(VOTES_APART_MS + 200)
        if (!(await isMaster())) await ask(node, 'CLUSTER', 'FAILOVER')
        return await until(`node ${node} is the master`, isMaster, 6_000)
      } catch (error) {
        if (attempts === 1) throw error
      }
  }
  const write = async (eventMs: number) => {
    for (const deadlineMs = Date.now() + 15_000; ; await sleep(100))
      try {
        return await store.write([{ ...ROW, eventMs }])
      } catch (error) {
        if (!(error instanceof OnlineStoreUnavailable) || Date.now() > deadlineMs) throw error
      }
  }

  before(async function () {
    this.timeout(70_000)
    for (const name of ['a', 'b', 'c']) {
      const config = [
        '--cluster-config-file',
        join(directory, name),
        '--cluster-port',
        String(await freePort()),
        '--cluster-node-timeout',
        String(NODE_TIMEOUT_MS),
      ]
      nodes.push(await startRedis(this, ['--cluster-enabled', 'yes', ...config]))
    }
    await ask(1, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    const { hostname, port } = new URL(nodes[1]!.url)
    const busPort = /cluster_bus_port|@(\d+)/.exec(await ask(1, 'CLUSTER', 'NODES'))?.[1] ?? ''
    for (const node of [0, 2]) await ask(node, 'CLUSTER', 'MEET', hostname, port, busPort)
    await until('all hash slots are served', async () => /cluster_state:ok/.test(await ask(0, 'CLUSTER', 'INFO')))
    await until('node 2 knows the others', async () => /cluster_known_nodes:3/.test(await ask(2, 'CLUSTER', 'INFO')))
    await ask(2, 'CLUSTER', 'REPLICATE', await ask(1, 'CLUSTER', 'MYID'))
    await until('node 2 follows its master', async () => /master_link_status:up/.test(await ask(2, 'INFO', 'replication')))
    store = createRedisOnlineStore({ url: nodes[0]!.url })
  })
  after(async () => {
    await store?.close()
    for (const node of nodes) await node.kill()
    rmSync(directory, { recursive: true, force: true })
  })

  it('is used through any of its nodes, and goes on where the keys are after a failover', async function () {
    this.timeout(200_000)
    await store.write([ROW])
    expect(await store.read([ROW])).to.deep.equal([ROW])
    await makeMaster(2)
    await write(7)
    expect(await store.read([ROW])).to.deep.equal([{ ...ROW, eventMs: 7 }])
    const before = await store.version()
    await makeMaster(1)
    expect(await store.version()).to.equal(before)
    await write(8)
    expect(await store.read([ROW])).to.deep.equal([{ ...ROW, eventMs: 8 }])
  })
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

  const row = ROW
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
