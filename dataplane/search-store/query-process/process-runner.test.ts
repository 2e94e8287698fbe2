import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { untilTrue } from '../../testing/eventually.ts'
import { startTestStore, type TestStore } from '../testing/test-store.ts'
import { createProcessRunner, type QueryTimes } from './process-runner.ts'

const UNRULY = new URL('../testing/unruly-query-process.ts', import.meta.url)

const startUnruly = (times?: QueryTimes) =>
  startTestStore({ createQueryRunner: config => createProcessRunner({ ...config, entry: UNRULY, ...(times && { times }) }) })

async function fill(store: TestStore, documents = 20): Promise<void> {
  const lines = Array.from({ length: documents }, (_none, at) => `{"index":{"_id":"${at}"}}\n{"n":${at},"word":"one two"}\n`)
  await store.request('POST', '/notes/_bulk', lines.join(''))
}

const all = { query: { match_all: {} }, size: 0 }

const childrenOf = (pid: number): readonly number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap(task =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  )

/** Empty where the file was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

const isRunning = (pid: number): boolean => {
  try {
    // A zombie has ended.
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return false
  }
}

const metric = async (store: TestStore, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await store.request('GET', '/metrics')).text)?.[1])

describe('the query process', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await startUnruly()
    await fill(store)
  })
  afterEach(() => store.stop())

  /** The answer of a query, and of another that is under way beside it. */
  async function beside(deed: string): Promise<readonly [number, string | undefined, number, number]> {
    const neighbour = store.request('POST', '/notes/_search?q=long', all)
    const began = performance.now()
    const answer = await store.request('POST', `/notes/_search?q=${deed}`, all)
    const ms = performance.now() - began
    expect(ms).to.be.below(30_000)
    return [
      answer.status,
      answer.body.error?.type,
      (await neighbour).status,
      (await store.request('POST', '/notes/_search', all)).body.hits.total.value,
    ]
  }

  it('is ended when a query holds it up, which is answered 408; the others are run again', async () => {
    expect(await beside('stuck')).to.deep.equal([408, 'timeout_exception', 200, 20])
    expect(await metric(store, 'service_search_query_processes_ended_total\\{reason="stuck"\\}')).to.equal(1)
  }).timeout(60_000)

  for (const deed of ['heap', 'buffers', 'growing'])
    it(`survives or is ended when a query takes too much memory, which is answered 429; the others are not: ${deed}`, async () => {
      await store.stop()
      // A heap that is nearly full is collected again and again: on a busy machine it says nothing for longer than usual.
      store = await startUnruly({ budgetMs: 30_000, graceMs: 5_000, answerMs: 15_000, silentMs: 30_000 })
      await fill(store)
      expect(await beside(deed)).to.deep.equal([429, 'circuit_breaking_exception', 200, 20])
    }).timeout(60_000)

  it('takes no answer along that is half on its way: the query is run again, and its client gets all of it', async () => {
    const line = JSON.stringify({ word: 'halting', text: 'x'.repeat(1000) })
    await store.request('POST', '/notes/_bulk', Array.from({ length: 3000 }, () => `{"index":{}}\n${line}\n`).join(''))
    const large = store.request('POST', '/notes/_search?q=halting&size=3000')
    await untilTrue(async () => (await metric(store, 'service_search_queries_running')) === 1)
    await new Promise(resolve => setTimeout(resolve, 1_000))
    const stuck = store.request('POST', '/notes/_search?q=stuck', all)
    const { status, body } = await large
    expect([status, body.hits.hits.length]).to.deep.equal([200, 3000])
    expect((await stuck).status).to.equal(408)
    expect(await metric(store, 'service_search_query_processes_ended_total\\{reason="stuck"\\}')).to.equal(1)
  }).timeout(40_000)

  it('ends a deletion by query with a status when it ends itself, whose documents can be deleted by the next', async () => {
    const line = JSON.stringify({ word: 'halting' })
    await store.request('POST', '/notes/_bulk', Array.from({ length: 5000 }, () => `{"index":{}}\n${line}\n`).join(''))
    const deletion = store.request('POST', '/notes/_delete_by_query?q=halting')
    await untilTrue(async () => (await store.request('GET', '/notes/_count')).body.count < 5020)
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL')
    const { status, headers } = await deletion
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1'])
    await store.request('POST', '/notes/_delete_by_query', { query: { match: { word: 'halting' } } })
    expect((await store.request('POST', '/notes/_search', all)).body.hits.total.value).to.equal(20)
  }).timeout(40_000)

  it('is started again when somebody kills it, and answers what was asked', async () => {
    const long = store.request('POST', '/notes/_search?q=long', all)
    await untilTrue(async () => (await metric(store, 'service_search_queries_running')) === 1)
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL')
    expect((await long).status).to.equal(200)
    expect(await metric(store, 'service_search_query_processes_ended_total\\{reason="killed"\\}')).to.be.at.least(1)
  }).timeout(20_000)

  it('is ended when it is stopped, and what was asked meanwhile is answered by the next', async () => {
    const patient = store
    store = await startUnruly({ budgetMs: 30_000, graceMs: 5_000, answerMs: 15_000, silentMs: 2_000 })
    await patient.stop()
    await fill(store)
    expect((await store.request('POST', '/notes/_search', all)).status).to.equal(200)
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGSTOP')
    const answers = await Promise.all(Array.from({ length: 5 }, () => store.request('POST', '/notes/_search', all)))
    expect(answers.map(({ status, body }) => [status, body.hits?.total.value])).to.deep.equal(Array(5).fill([200, 20]))
    expect(await metric(store, 'service_search_query_processes_ended_total\\{reason="stuck"\\}')).to.equal(1)
  }).timeout(30_000)

  /** Segments that the query process has open. */
  const openSegments = (): readonly string[] =>
    childrenOf(process.pid)
      .flatMap(pid => readdirSync(`/proc/${pid}/fd`).map(fd => linkOf(`/proc/${pid}/fd/${fd}`)))
      .filter(path => path.includes('.seg'))

  const logs = (count: number): string =>
    Array.from({ length: count }, (_none, at) => `{"create":{}}\n{"timestamp":${at},"message":"one two","level":"INFO"}\n`).join('')

  it('lets go of the files of an index that was deleted, also where nobody asks', async () => {
    await store.request('POST', '/service-logs-2026.11.21/_bulk', logs(20))
    await store.request('POST', '/service-logs-2026.11.21/_search', all)
    expect(openSegments()).to.have.lengthOf(1)
    await store.request('DELETE', '/service-logs-2026.11.21')
    await untilTrue(() => openSegments().length === 0)
    expect((await store.request('POST', '/notes/_search', all)).body.hits.total.value).to.equal(20)
  }).timeout(20_000)

  it('reads of log indices after a start before anybody asks, and counts that as no query', async () => {
    // Fewer than 20,000 documents are not read beforehand.
    for (let part = 0; part < 4; part++) await store.request('POST', '/service-logs-2026.11.21/_bulk', logs(5_000))
    await store.restart()
    await untilTrue(() => openSegments().length > 0)
    expect(await metric(store, 'service_search_queries_running')).to.equal(0)
    expect((await store.request('POST', '/service-logs-*/_search', all)).body.hits.total.value).to.equal(10_000)
    expect(await metric(store, 'service_search_queries_cancelled_total')).to.equal(0)
  }).timeout(40_000)

  it('gives up a query whose client has gone', async () => {
    const gone = new AbortController()
    const asked = fetch(`${store.url}/notes/_search?q=growing`, { signal: gone.signal }).catch(() => 'gone')
    await untilTrue(async () => (await metric(store, 'service_search_queries_running')) === 1)
    gone.abort()
    expect(await asked).to.equal('gone')
    await untilTrue(async () => (await metric(store, 'service_search_queries_running')) === 0, { timeoutMs: 2_000 })
    expect(await metric(store, 'service_search_queries_cancelled_total')).to.equal(1)
    expect((await store.request('POST', '/notes/_search', all)).status).to.equal(200)
  }).timeout(20_000)

  it('answers a short query at once while forty long ones run; health and writes, too', async () => {
    const long = Array.from({ length: 40 }, () => store.request('POST', '/notes/_search?q=long', all).catch(() => undefined))
    await untilTrue(async () => (await metric(store, 'service_search_queries_running')) === 40)
    for (let round = 0; round < 5; round++) {
      const began = performance.now()
      await store.request('PUT', `/notes/_doc/new-${round}`, { n: 100 + round })
      const { body } = await store.request('POST', '/notes/_search', { query: { term: { n: 100 + round } } })
      expect(body.hits.total.value).to.equal(1)
      // One after the other they take 80 s.
      expect(performance.now() - began).to.be.below(15_000)
    }
    // They take turns with the long ones.
    const answers = await Promise.all(Array.from({ length: 12 }, () => store.request('POST', '/notes/_search', all)))
    expect(answers.every(({ status }) => status === 200)).to.equal(true)
    await store.stop()
    await Promise.all(long)
    store = await startUnruly()
  }).timeout(120_000)

  it('sees what was acknowledged before, whatever is sealed, deleted and made anew meanwhile', async () => {
    const index = '/service-logs-2026.11.21'
    let documents = 0
    const writes = async (name: string) => {
      for (let at = 0; at < 25; at++) {
        await store.request('POST', `${index}/_bulk`, `{"index":{"_id":"${name}-${at}"}}\n{"name":"${name}","n":${at}}\n`)
        documents++
        const { body } = await store.request('POST', `${index}/_search`, { query: { ids: { values: [`${name}-${at}`] } } })
        expect(body.hits.hits[0]?._source).to.deep.equal({ name, n: at })
      }
    }
    await Promise.all([writes('a'), writes('b'), writes('c')])
    expect((await store.request('POST', `${index}/_search`, all)).body.hits.total.value).to.equal(documents)
    await store.request('POST', `${index}/_delete_by_query`, { query: { term: { 'name.keyword': 'a' } } })
    expect((await store.request('POST', `${index}/_search`, all)).body.hits.total.value).to.equal(50)
    await store.request('DELETE', index)
    expect((await store.request('POST', `${index}/_search`, all)).status).to.equal(404)
    await store.request('PUT', index, { mappings: { properties: { n: { type: 'keyword' } } } })
    await store.request('PUT', `${index}/_doc/1`, { n: 7 })
    await store.request('PUT', `${index}/_mapping`, { properties: { later: { type: 'long' } } })
    await store.request('PUT', `${index}/_doc/2`, { n: 8, later: 3 })
    const { body } = await store.request('POST', `${index}/_search`, { query: { range: { later: { gte: 3 } } } })
    expect(body.hits.hits.map((hit: { _id: string }) => hit._id)).to.deep.equal(['2'])
    await store.restart()
    expect((await store.request('POST', `${index}/_search`, all)).body.hits.total.value).to.equal(2)
  }).timeout(40_000)
})

describe('the time of a query', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await startUnruly({ budgetMs: 1_000, graceMs: 1_500, answerMs: 1_500 })
    await fill(store)
    await store.request('POST', '/notes/_search', all)
  })
  afterEach(() => store.stop())

  it('counts from its arrival, however often its process ends: beyond it the answer is 408', async () => {
    const began = performance.now()
    const deaf = store.request('POST', '/notes/_search?q=deaf', all)
    for (let kills = 0; kills < 2; kills++) {
      await new Promise(resolve => setTimeout(resolve, 800))
      for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL')
    }
    const { status, body } = await deaf
    expect([status, body.error.type]).to.deep.equal([408, 'timeout_exception'])
    expect(performance.now() - began).to.be.within(2_400, 4_000)
    expect((await store.request('POST', '/notes/_search', all)).status).to.equal(200)
  }).timeout(20_000)

  it('is known to the query itself, which answers that it timed out', async () => {
    const { status, body } = await store.request('POST', '/notes/_search?q=late')
    expect([status, body.timed_out]).to.deep.equal([200, true])
  }).timeout(20_000)

  it('is that of all searches of one request: those that it does not suffice for say so', async () => {
    const search = `{"index":"notes"}\n${JSON.stringify(all)}\n`
    const { status, body } = await store.request('POST', '/_msearch?q=late', search.repeat(3))
    expect(status).to.equal(200)
    expect(body.responses.map((each: { status: number; error?: { type: string } }) => [each.status, each.error?.type])).to.deep.equal(
      Array.from({ length: 3 }, () => [408, 'timeout_exception']),
    )
  }).timeout(20_000)

  it('has an end for an answer that has begun, too', async () => {
    const line = JSON.stringify({ word: 'halted', text: 'x'.repeat(1000) })
    await store.request('POST', '/notes/_bulk', Array.from({ length: 1000 }, () => `{"index":{}}\n${line}\n`).join(''))
    const began = performance.now()
    const { status } = await store.request('POST', '/notes/_search?q=halted&size=1000')
    expect(status).to.equal(408)
    expect(performance.now() - began).to.be.within(3_900, 5_500)
  }).timeout(20_000)

  it('has an end for an answer that is read as it is made and does not go on', async () => {
    const line = JSON.stringify({ word: 'halted' })
    await store.request('POST', '/notes/_bulk', Array.from({ length: 2000 }, () => `{"index":{}}\n${line}\n`).join(''))
    const began = performance.now()
    expect((await store.request('POST', '/notes/_delete_by_query?q=halted')).status).to.equal(408)
    expect(performance.now() - began).to.be.below(15_000)
  }).timeout(20_000)
})

describe('a query process that nobody asks', () => {
  let store: TestStore

  const start = (times: Partial<QueryTimes>) => startUnruly({ budgetMs: 30_000, graceMs: 5_000, answerMs: 15_000, idleMs: 300, ...times })
  const isThere = (): boolean => childrenOf(process.pid).length > 0

  afterEach(() => store.stop())

  it('is not there before the first query, ends once it is idle, and is started again by the next query', async () => {
    store = await start({ userAwayMs: 500 })
    await fill(store)
    await new Promise(resolve => setTimeout(resolve, 1_500))
    expect(isThere()).to.equal(false)
    for (let round = 0; round < 3; round++) {
      expect((await store.request('POST', '/notes/_search', all)).body.hits.total.value).to.equal(20)
      expect(isThere()).to.equal(true)
      await untilTrue(() => !isThere(), { timeoutMs: 5_000 })
    }
    for (const reason of ['stuck', 'memory', 'crashed', 'killed'])
      expect(await metric(store, `service_search_query_processes_ended_total\\{reason="${reason}"\\}`), reason).to.equal(0)
  }).timeout(20_000)

  it('stays while a query takes its time, and for as long as a user may come back', async () => {
    store = await start({ userAwayMs: 3_000 })
    await fill(store)
    const began = performance.now()
    expect((await store.request('POST', '/notes/_search?q=long', all)).status).to.equal(200)
    const endedMs = performance.now() - began
    expect(endedMs).to.be.above(1_000)
    await untilTrue(() => !isThere(), { timeoutMs: 8_000 })
    expect(performance.now() - began - endedMs).to.be.above(2_500)
  }).timeout(20_000)

  it('is started for a user who counts documents, and may search next', async () => {
    store = await start({ userAwayMs: 500 })
    await fill(store)
    expect((await store.request('GET', '/notes/_count')).body.count).to.equal(20)
    expect(isThere()).to.equal(true)
    await untilTrue(() => !isThere(), { timeoutMs: 5_000 })
  }).timeout(20_000)

  it('ends sooner where queries came in the background alone', async () => {
    store = await start({ userAwayMs: 60_000 })
    await fill(store)
    const background = { headers: { 'content-type': 'application/json', 'x-opaque-id': 'logpipeline-background' } }
    await fetch(`${store.url}/notes/_search`, { method: 'POST', body: JSON.stringify(all), ...background })
    expect(isThere()).to.equal(true)
    await untilTrue(() => !isThere(), { timeoutMs: 5_000 })
  }).timeout(20_000)
})

describe('a store that is killed', () => {
  for (const q of ['long', 'stuck'])
    it(`leaves no query process behind in the midst of a query: ${q}`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'killed-store-'))
      const program = resolve(import.meta.dirname, '../testing/store-process.ts')
      const child = spawn(process.execPath, [program, dir, String(UNRULY)], { stdio: ['ignore', 'pipe', 'inherit'] })
      const port = await new Promise<string>(found => child.stdout.once('data', data => found(String(data).trim())))
      const url = `http://127.0.0.1:${port}`
      await fetch(`${url}/notes/_doc/1`, { method: 'PUT', body: '{}', headers: { 'content-type': 'application/json' } })
      void fetch(`${url}/notes/_search?q=${q}`).catch(() => undefined)
      await untilTrue(async () => /^service_search_queries_running 1$/m.test(await (await fetch(`${url}/metrics`)).text()))
      const [query] = childrenOf(child.pid!)
      expect(isRunning(query!)).to.equal(true)
      child.kill('SIGKILL')
      await untilTrue(() => !isRunning(query!), { timeoutMs: 5_000 })
      rmSync(dir, { recursive: true })
    }).timeout(20_000)
})
