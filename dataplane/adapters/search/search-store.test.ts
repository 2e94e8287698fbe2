import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { IDS_TELL_TIMES, IDS_TELL_TIMES_HEADER } from '../../bulk-port/ids-tell-times.ts'
import { BACKGROUND, BACKGROUND_HEADER } from '../../limits/background-queries.ts'
import { type SearchStore, SearchStoreRefusal, SearchStoreUnavailable, VersionConflict } from '../../ports/search-store.ts'
import { createSearchStore } from './search-store.ts'

interface Seen {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

interface Reply {
  readonly status?: number
  readonly body?: unknown
  /** Default: JSON. */
  readonly type?: string
  /** Cut the connection instead. */
  readonly cut?: true
  readonly warnings?: string[]
  /** Cut it in the midst of the answer. */
  readonly halved?: true
}

const refusal = (type: string, status: number) => ({ status, body: { error: { type, reason: 'because' }, status } })

describe('the search store over the OpenSearch REST API', () => {
  let server: Server
  let store: SearchStore
  let seen: Seen[]
  let replies: Reply[]

  beforeEach(async () => {
    seen = []
    replies = []
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const url = new URL(request.url!, 'http://store')
      seen.push({
        method: request.method!,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      const { status = 200, body = {}, type = 'application/json', warnings, cut, halved } = replies.shift() ?? {}
      if (cut) return void request.socket.destroy()
      if (warnings !== undefined) response.setHeader('warning', warnings)
      response.writeHead(status, { 'content-type': type })
      if (halved) return void response.write('{"items":[', () => request.socket.destroy())
      response.end(type === 'application/json' ? JSON.stringify(body) : String(body))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    store = createSearchStore({ endpoint, username: 'admin', password: 'pass word', requestTimeoutMs: 500 })
  })
  afterEach(async () => {
    await store.close()
    server.closeAllConnections()
    server.close()
  })

  const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: Error) => error)

  it('sends prebuilt lines and maps each outcome', async () => {
    replies.push({
      body: {
        items: [
          { create: { status: 201 } },
          { create: { status: 409, error: { type: 'version_conflict_engine_exception' } } },
          { index: { status: 400, error: { type: 'mapper_parsing_exception', reason: 'no' } } },
          { update: { status: 429, error: { type: 'rejected_execution_exception', reason: 'busy' } } },
        ],
      },
    })
    const outcomes = await store.bulk([
      { action: 'create', index: 'i', id: '1', body: '{"a":"ü"}' },
      { action: 'create', index: 'i', id: '2', body: Buffer.from('{"a":2}') },
      { action: 'index', index: 'i', id: '3', body: '{"a":3}' },
      { action: 'update', index: 'i', id: '4"', body: '{"b":1}', upsert: '{"a":4}' },
    ])
    expect(outcomes).to.deep.equal([
      { status: 'done', created: true },
      { status: 'exists' },
      { status: 'refused', reason: '400 mapper_parsing_exception: no' },
      { status: 'retry', reason: '429 rejected_execution_exception: busy', isTooMuch: true, isBusy: true },
    ])
    expect(seen[0]).to.include({ method: 'POST', path: '/_bulk' })
    expect(seen[0]!.headers['content-type']).to.equal('application/x-ndjson')
    expect(seen[0]!.headers['authorization']).to.equal(`Basic ${Buffer.from('admin:pass word').toString('base64')}`)
    expect(seen[0]!.query['filter_path']).to.contain('items.*.status')
    expect(seen[0]!.body.split('\n')).to.deep.equal([
      '{"create":{"_index":"i","_id":"1"}}',
      '{"a":"ü"}',
      '{"create":{"_index":"i","_id":"2"}}',
      '{"a":2}',
      '{"index":{"_index":"i","_id":"3"}}',
      '{"a":3}',
      '{"update":{"_index":"i","_id":"4\\""}}',
      '{"doc":{"b":1},"upsert":{"a":4}}',
      '',
    ])
  })

  it('a bulk says so where the ids of all its documents tell their times', async () => {
    const operation = { action: 'create', index: 'service-logs-2026.11.21', id: 'a', body: '{}' } as const
    const told = { ...operation, idTellsTime: true } as const
    replies.push({ body: { items: [{ create: { status: 201 } }, { create: { status: 201 } }] } })
    await store.bulk([told, told])
    replies.push({ body: { items: [{ create: { status: 201 } }, { create: { status: 201 } }] } })
    await store.bulk([told, operation])
    expect(seen.map(({ headers }) => headers[IDS_TELL_TIMES_HEADER])).to.deep.equal([IDS_TELL_TIMES, undefined])
  })

  it('names a search that no user waits for', async () => {
    replies = Array(2).fill({ body: { hits: { total: { value: 0 }, hits: [] } } })
    for (const more of [{ isBackground: true }, {}]) await store.search({ index: 'logs', body: {}, ...more })
    expect(seen.map(({ headers }) => headers[BACKGROUND_HEADER])).to.deep.equal([BACKGROUND, undefined])
    expect(seen.map(({ body }) => body)).to.deep.equal(Array(2).fill('{"seq_no_primary_term":true}'))
  })

  describe('a search that a part of the store did not answer', () => {
    const hits = { total: { value: 0 }, hits: [] }
    const PARTS = [
      // As OpenSearch answers while the primary shards of an index are unassigned.
      { timed_out: false, _shards: { total: 3, successful: 1, skipped: 0, failed: 0 }, shards: 2 },
      { timed_out: false, _shards: { total: 3, successful: 2, skipped: 0, failed: 1 }, shards: 1 },
      { timed_out: true, _shards: { total: 3, successful: 3, skipped: 0, failed: 0 }, shards: 0 },
    ]

    it('rejects as if the store were away', async () => {
      for (const { shards: _, ...part } of PARTS) {
        replies.push({ body: { ...part, hits } })
        const error = await failure(store.search({ index: 'i', body: {} }))
        expect(error).to.be.instanceOf(SearchStoreUnavailable)
        expect(error?.message).to.match(/^search store answered a search of i in part: /)
      }
    })

    it('is taken by who asks for a part, and says what is missing', async () => {
      for (const { shards, ...part } of PARTS) {
        replies.push({ body: { ...part, hits } })
        const { missing } = await store.search({ index: 'i', body: {}, takesPart: true })
        expect(missing).to.deep.equal({ shards, of: 3 })
      }
    })

    it('is whole with shards that were skipped, and of no index at all', async () => {
      for (const _shards of [
        { total: 3, successful: 3, skipped: 2, failed: 0 },
        { total: 0, successful: 0, skipped: 0, failed: 0 },
      ]) {
        replies.push({ body: { timed_out: false, _shards, hits } })
        expect(await store.search({ index: 'i', body: {} })).to.not.have.property('missing')
      }
    })
  })

  it('an empty bulk asks nobody', async () => {
    expect(await store.bulk([])).to.deep.equal([])
    expect(seen).to.deep.equal([])
  })

  it('asks for fewer at a time where a bulk is too large; a document that is too large is refused', async () => {
    replies.push(refusal('', 413), refusal('', 413))
    const operation = { action: 'create', index: 'i', body: '{}' } as const
    const two = await store.bulk([
      { ...operation, id: '1' },
      { ...operation, id: '2' },
    ])
    expect(two).to.deep.equal(Array(2).fill({ status: 'retry', reason: '413 larger than the search store takes', isTooMuch: true }))
    expect(await store.bulk([{ ...operation, id: '1' }])).to.deep.equal([
      { status: 'refused', reason: '413 larger than the search store takes' },
    ])
  })

  it('searches with versions; missing indices count as empty', async () => {
    replies.push({
      body: {
        hits: {
          total: { value: 7, relation: 'eq' },
          hits: [{ _index: 'i', _id: '1', _seq_no: 5, _primary_term: 2, _source: { a: 1 }, sort: [3] }],
        },
        aggregations: { by: {} },
      },
    })
    expect(await store.search({ index: 'service-incidents-*', body: { size: 1 } })).to.deep.equal({
      total: 7,
      hits: [{ index: 'i', id: '1', seqNo: 5, primaryTerm: 2, source: { a: 1 }, sort: [3] }],
      aggregations: { by: {} },
    })
    expect(seen[0]).to.include({ method: 'POST', path: '/service-incidents-*/_search' })
    expect(seen[0]!.query).to.deep.equal({ ignore_unavailable: 'true', allow_no_indices: 'true' })
    expect(JSON.parse(seen[0]!.body)).to.deep.equal({ seq_no_primary_term: true, size: 1 })
  })

  it('gets the latest version of a document, or undefined', async () => {
    replies.push(
      { body: { _index: 'i', _id: 'a/b', _seq_no: 5, _primary_term: 2, _source: { a: 1 } } },
      { status: 404, body: { found: false } },
    )
    expect(await store.get('i', 'a/b')).to.deep.equal({ index: 'i', id: 'a/b', seqNo: 5, primaryTerm: 2, source: { a: 1 } })
    expect(seen[0]!.path).to.equal('/i/_doc/a%2Fb')
    expect(await store.get('i', 'x')).to.equal(undefined)
  })

  it('writes on condition; a miss throws VersionConflict', async () => {
    replies.push(
      { status: 201, body: { _seq_no: 1, _primary_term: 1 } },
      { body: { _seq_no: 6, _primary_term: 2 } },
      refusal('version_conflict_engine_exception', 409),
    )
    expect(await store.put('i', '1', { a: 1 }, { only: 'new' })).to.deep.equal({ seqNo: 1, primaryTerm: 1 })
    expect(seen[0]!.query).to.deep.equal({ op_type: 'create' })
    expect(await store.put('i', '1', { a: 1 }, { seqNo: 5, primaryTerm: 2 })).to.deep.equal({ seqNo: 6, primaryTerm: 2 })
    expect(seen[1]!.query).to.deep.equal({ if_seq_no: '5', if_primary_term: '2' })
    expect(await failure(store.put('i', '1', {}, { only: 'new' }))).to.be.instanceOf(VersionConflict)
  })

  it('writes that come together are one bulk, and each is told its own end', async () => {
    const error = { type: 'x', reason: 'because' }
    replies.push({
      body: {
        items: [
          { create: { status: 201, _seq_no: 1, _primary_term: 1 } },
          { index: { status: 409, error } },
          { index: { status: 503, error } },
          { index: { status: 400, error: { ...error, type: 'validation_exception' } } },
        ],
      },
    })
    const ends = await Promise.all([
      store.put('i', '1', { a: 1 }, { only: 'new' }),
      failure(store.put('i', '2', { a: 2 }, { seqNo: 5, primaryTerm: 2 })),
      failure(store.put('j', '3', { a: 3 })),
      failure(store.put('k', '4', {})),
    ])
    expect(ends[0]).to.deep.equal({ seqNo: 1, primaryTerm: 1 })
    expect(ends[1]).to.be.instanceOf(VersionConflict)
    expect(ends[2]).to.be.instanceOf(SearchStoreUnavailable)
    expect(ends[3]).to.be.instanceOf(SearchStoreRefusal).and.include({ status: 400, hasNoRoom: true })
    expect(seen).to.have.length(1)
    expect(seen[0]).to.include({ method: 'POST', path: '/_bulk' })
    expect(
      seen[0]!.body
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).to.deep.equal([
      { create: { _index: 'i', _id: '1' } },
      { a: 1 },
      { index: { _index: 'i', _id: '2', if_seq_no: 5, if_primary_term: 2 } },
      { a: 2 },
      { index: { _index: 'j', _id: '3' } },
      { a: 3 },
      { index: { _index: 'k', _id: '4' } },
      {},
    ])
  })

  it('writes that come together and are refused as a whole are sent one by one; without an answer all may have been written', async () => {
    const written = { status: 201, body: { _seq_no: 1, _primary_term: 1 } }
    replies.push(refusal('', 413), written, refusal('mapper_parsing_exception', 400))
    const two = () => Promise.all(['1', '2'].map(id => store.put('i', id, {}).catch((error: Error) => error)))
    const [first, second] = await two()
    expect(first).to.deep.equal({ seqNo: 1, primaryTerm: 1 })
    expect(second).to.be.instanceOf(SearchStoreRefusal)
    expect(seen.map(({ method }) => method)).to.deep.equal(['POST', 'PUT', 'PUT'])
    replies.push({ cut: true })
    for (const end of await two()) expect(end).to.be.instanceOf(SearchStoreUnavailable)
    expect(seen).to.have.length(4)
  })

  it('a refresh, a listing or a deletion of what is not there is no error', async () => {
    replies.push(
      refusal('index_not_found_exception', 404),
      refusal('index_not_found_exception', 404),
      refusal('index_not_found_exception', 404),
    )
    await store.refresh('i')
    expect(await store.listIndices('service-logs-*')).to.deep.equal([])
    await store.deleteIndex('i')
  })

  for (const status of [429, 502, 503, 504]) {
    it(`${status} is SearchStoreUnavailable`, async () => {
      replies.push(refusal('x', status), refusal('x', status))
      expect(await failure(store.bulk([{ action: 'create', index: 'i', id: '1', body: '{}' }]))).to.be.instanceOf(SearchStoreUnavailable)
    })
  }

  it('a store whose disk is full says so to callers, as the embedded one and OpenSearch word it', async () => {
    const embedded = 'blocked by: [TOO_MANY_REQUESTS/12/disk is full: ENOSPC: no space left on device, write]'
    const openSearch =
      'index [i] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];'
    for (const reason of [embedded, openSearch]) {
      replies.push({ status: 429, body: { error: { type: 'cluster_block_exception', reason }, status: 429 } })
      expect(await failure(store.put('i', '1', {}))).to.include({ forCallers: 'the search store cannot write to its disk' })
    }
    replies.push(refusal('rejected_execution_exception', 429))
    expect(await failure(store.put('i', '1', {}))).to.include({ forCallers: 'the search store cannot be reached' })
  })

  describe('an answer of another server in its place is none', () => {
    const PAGE = { type: 'text/html', body: '<html>log in</html>' }
    const strange: Readonly<Record<string, Reply>> = {
      'a page': PAGE,
      'a page that says 404': { ...PAGE, status: 404 },
      'a redirection': { ...PAGE, status: 302 },
      nothing: { type: 'text/plain', body: '' },
      null: { body: null },
      'another 404': { status: 404, body: { message: 'no Route matched with those values' } },
      'another object': { body: { ok: true } },
    }
    const requests: Readonly<Record<string, () => Promise<unknown>>> = {
      bulk: () => store.bulk([{ action: 'create', index: 'i', id: '1', body: '{}' }]),
      put: () => store.put('i', '1', {}),
      puts: () => Promise.all([store.put('i', '1', {}), store.put('i', '2', {})]),
      get: () => store.get('i', '1'),
      getMany: () => store.getMany('i', ['1']),
      search: () => store.search({ index: 'i', body: {} }),
      listIndices: () => store.listIndices('*'),
      deleteByQuery: () => store.deleteByQuery('i', {}, 1),
      clusterStatus: () => store.clusterStatus(),
    }
    for (const [what, reply] of Object.entries(strange))
      it(`${what}: neither written, nor read, nor missing`, async () => {
        for (const [name, request] of Object.entries(requests)) {
          replies = [reply, reply]
          expect(await failure(request()), name).to.be.instanceOf(SearchStoreUnavailable)
        }
      })

    it('an item of a bulk without a status: neither written nor refused', async () => {
      replies = [{ body: { items: [{ create: {} }] } }]
      expect(await failure(requests['bulk']!())).to.be.instanceOf(SearchStoreUnavailable)
    })

    it('a page that says 413 is a refusal for size: proxies have limits of their own', async () => {
      replies = [{ ...PAGE, status: 413 }]
      expect(await requests['bulk']!()).to.deep.equal([{ status: 'refused', reason: '413 larger than the search store takes' }])
    })
  })

  it('a read that is answered 429 is sent again, a write is not', async () => {
    const hits = { hits: { hits: [{ _id: '1', _source: { a: 1 } }] } }
    replies.push(refusal('rejected_execution_exception', 429), { body: hits })
    expect((await store.search({ index: 'i', body: {} })).hits).to.have.length(1)
    replies.push(refusal('rejected_execution_exception', 429))
    expect(await failure(store.put('i', '1', {}))).to.be.instanceOf(SearchStoreUnavailable)
    expect(seen.map(({ method }) => method)).to.deep.equal(['POST', 'POST', 'PUT'])
  })

  it('so are a cut connection, an answer in no time, and nobody listening', async () => {
    replies.push({ cut: true })
    expect(await failure(store.put('i', '1', {}))).to.be.instanceOf(SearchStoreUnavailable)
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const waiting = createSearchStore({ endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, requestTimeoutMs: 50 })
    expect(await failure(waiting.put('i', '1', {}))).to.be.instanceOf(SearchStoreUnavailable)
    silent.closeAllConnections()
    silent.close()
    expect(await failure(waiting.clusterStatus())).to.be.instanceOf(SearchStoreUnavailable)
    await waiting.close()
  })

  it('so is an answer that stops or breaks off midway, and nothing is printed', async () => {
    const half = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{"_seq')
      if (request.url!.includes('broken')) setImmediate(() => request.socket.resetAndDestroy())
    })
    await new Promise<void>(resolve => half.listen(0, '127.0.0.1', resolve))
    const reading = createSearchStore({ endpoint: `http://127.0.0.1:${(half.address() as AddressInfo).port}`, requestTimeoutMs: 50 })
    const printed: unknown[] = []
    const print = console.log
    console.log = (...args: unknown[]) => void printed.push(args)
    try {
      expect(await failure(reading.put('i', 'stops', {}))).to.be.instanceOf(SearchStoreUnavailable)
      expect(await failure(reading.put('i', 'broken', {}))).to.be.instanceOf(SearchStoreUnavailable)
    } finally {
      console.log = print
      half.closeAllConnections()
      half.close()
      await reading.close()
    }
    expect(printed).to.deep.equal([])
  })

  it('reads once more when the store closed the connection in the same moment; writes not', async () => {
    replies.push({ cut: true }, { body: { status: 'green' } }, { cut: true })
    expect(await store.clusterStatus()).to.equal('green')
    await failure(store.put('i', '1', {}))
    expect(seen.map(({ method }) => method)).to.deep.equal(['GET', 'GET', 'PUT'])
  })

  it('tells of writes whether the store closed a kept connection before it answered, and sends none again itself', async () => {
    const isOfKept = async () => {
      const error = await failure(store.bulk([{ action: 'create', index: 'i', id: '1', body: '{}' }]))
      expect(error).to.be.instanceOf(SearchStoreUnavailable)
      return (error as SearchStoreUnavailable).isOfKeptConnection
    }
    replies.push({ cut: true }, { body: { status: 'green' } }, { cut: true }, { body: { status: 'green' } }, { halved: true })
    expect(await isOfKept()).to.equal(false)
    await store.clusterStatus()
    expect(await isOfKept()).to.equal(true)
    await store.clusterStatus()
    expect(await isOfKept()).to.equal(false)
    expect(seen.filter(({ path }) => path === '/_bulk')).to.have.length(3)
  })

  it('takes a new connection after one that was kept and closed: the other ends of all are mostly gone', async () => {
    const requestsOf = new Map<unknown, number>()
    server.prependListener('request', ({ socket }) => {
      const before = requestsOf.get(socket) ?? 0
      requestsOf.set(socket, before + 1)
      if (before > 0 && requestsOf.size === 4) socket.destroy()
    })
    replies = Array.from({ length: 4 }, () => ({ body: { status: 'green' } }))
    await Promise.all(Array.from({ length: 4 }, () => store.clusterStatus()))
    expect(requestsOf.size).to.equal(4)
    expect(await failure(store.put('i', '1', {}))).to.include({ isOfKeptConnection: true })
    replies = [{ body: { _seq_no: 1, _primary_term: 1 } }]
    await store.put('i', '1', {})
    expect(requestsOf.size).to.equal(5)
  })

  it('takes an answer with a warning for each of hundreds of fields', async () => {
    const warnings = Array.from(
      { length: 300 },
      (_, i) => `299 OpenSearch-3.5.0 "field [attributes.of.a.long.name.${i}] is deprecated, use another in its place"`,
    )
    replies.push({ body: { _seq_no: 1, _primary_term: 1 }, warnings })
    await store.put('i', '1', {})
    expect(seen).to.have.length(1)
  })

  it("names the store's reason when it refuses a request", async () => {
    replies.push(refusal('parsing_exception', 400))
    const error = await failure(store.search({ index: 'i', body: {} }))
    expect(error).not.to.be.instanceOf(SearchStoreUnavailable)
    expect(error!.message).to.contain('400').and.to.contain('parsing_exception')
  })
  for (const [title, reply] of [
    ['an answer that refuses a request', refusal('parsing_exception', 400)],
    ['an answer of a store that is away', refusal('x', 503)],
    ['no answer', { cut: true }],
  ] as const)
    it(`an error of ${title} shows the request and the answer to nobody who prints it`, async () => {
      replies.push(reply)
      const { cause } = (await failure(store.put('i', '1', { message: 'of a user' })))!
      expect(cause).to.be.instanceOf(Error)
      expect(JSON.stringify({ ...(cause as object) })).not.to.contain('of a user')
      expect(Object.keys(cause as object)).to.deep.equal(['name'])
    })
})
