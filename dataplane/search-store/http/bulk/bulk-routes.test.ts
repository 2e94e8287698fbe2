import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { IDS_TELL_TIMES, IDS_TELL_TIMES_HEADER } from '../../../bulk-port/ids-tell-times.ts'
import { startTestStore } from '../../testing/test-store.ts'
import { useTestStore } from '../../testing/use-test-store.ts'

const lines = (...values: readonly unknown[]): string =>
  values.map(value => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('')

describe('_bulk', () => {
  const store = useTestStore({ maxBulkBytes: 1024 * 1024 })

  const bulk = (body: string | Uint8Array, path = '/_bulk', headers: Record<string, string> = {}) =>
    store.request('POST', path, body, { 'content-type': 'application/x-ndjson', ...headers })

  it('takes the word of a header that the ids of documents tell their times, for those that begin with a time', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'logpipeline-bulk-'))
    const own = await startTestStore({ dir })
    const segments = () =>
      readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.seg'))
        .map(name => readFileSync(join(dir, name)).toString('latin1').split('"idsTellTimes":true').length - 1)
    const timestamp = '2026-11-21T00:00:00.000Z'
    const send = (id: string, document: object, headers: Record<string, string>) =>
      own.request('POST', '/_bulk', lines({ create: { _index: 'service-logs-2026.11.21', _id: id } }, document), {
        'content-type': 'application/x-ndjson',
        ...headers,
      })
    const header = { [IDS_TELL_TIMES_HEADER]: IDS_TELL_TIMES }
    await send('1', { timestamp, n: 1 }, {})
    expect(segments()).to.deep.equal([0])
    await send('2', { n: 2, timestamp }, header)
    expect(segments()).to.deep.equal([0])
    await send('3', { timestamp, n: 3 }, header)
    expect(segments()).to.deep.equal([1])
    await own.stop()
    rmSync(dir, { recursive: true })
  })

  for (const index of ['things', 'service-logs-2026.11.21'])
    it(`answers each item in its place, in OpenSearch's shape, for ${index}`, async () => {
      const { status, body } = await bulk(
        lines(
          { index: { _index: index, _id: '1' } },
          { n: 1, timestamp: '2026-11-21T00:00:00Z' },
          { create: { _index: index, _id: '1' } },
          { n: 2 },
          { update: { _index: index, _id: '1' } },
          { doc: { flag: true } },
          { update: { _index: index, _id: 'up' } },
          { doc: { flag: true }, upsert: { n: 3, timestamp: '2026-11-21T01:00:00Z' } },
          { update: { _index: index, _id: 'gone' } },
          { doc: { flag: true } },
          { delete: { _index: index, _id: '1' } },
          { delete: { _index: index, _id: '1' } },
          { index: { _index: index, _id: 'bad' } },
          { n: 'not a number' },
          { create: { _index: index } },
          { n: 4, timestamp: '2026-11-21T00:00:00Z' },
        ),
      )
      expect(status).to.equal(200)
      expect(body.errors).to.equal(true)
      const items = body.items.map((item: Record<string, { status: number; result?: string; error?: { type: string } }>) => {
        const [action, each] = Object.entries(item)[0]!
        return [action, each.status, each.result ?? each.error!.type]
      })
      expect(items).to.deep.equal([
        ['index', 201, 'created'],
        ['create', 409, 'version_conflict_engine_exception'],
        ['update', 200, 'updated'],
        ['update', 201, 'created'],
        ['update', 404, 'document_missing_exception'],
        ['delete', 200, 'deleted'],
        ['delete', 404, 'not_found'],
        ['index', 400, 'mapper_parsing_exception'],
        ['create', 201, 'created'],
      ])
      expect(body.items[1].create.error).to.include({
        reason: '[1]: version conflict, document already exists (current version [1])',
        index,
        shard: '0',
      })
    })

  it('takes the index from the path and gzip bodies', async () => {
    const { body } = await bulk(gzipSync(lines({ index: { _id: 'a' } }, { x: 1 })), '/zipped/_bulk', { 'content-encoding': 'gzip' })
    expect(body.items[0].index).to.include({ _index: 'zipped', status: 201 })
    expect((await store.request('GET', '/zipped/_source/a')).body).to.deep.equal({ x: 1 })
  })

  it('makes the index of a document although a deletion in front found none', async () => {
    const { body } = await bulk(
      lines(
        { delete: { _index: 'made-late', _id: '1' } },
        { index: { _index: 'made-late', _id: '1' } },
        { x: 1 },
        { delete: { _index: 'made-late', _id: '1' } },
      ),
    )
    expect(body.items[0].delete.error.type).to.equal('index_not_found_exception')
    expect(body.items[1].index).to.include({ status: 201, result: 'created' })
    expect(body.items[2].delete).to.include({ status: 200, result: 'deleted' })
  })

  it('keeps documents byte for byte', async () => {
    const source = '{"big":1234567890123456789, "esc":"\\u00e9\\n","a.b":{"c":[1.0,2e3]},"é":"ü"}'
    await bulk(lines({ index: { _index: 'bytes', _id: 'a' } }, source))
    expect((await store.request('GET', '/bytes/_source/a')).text).to.equal(source)
  })

  it('filters the response', async () => {
    const { text } = await bulk(
      lines({ create: { _index: 'things', _id: 'f1' } }, {}, { create: { _index: 'things', _id: 'f1' } }, {}),
      '/_bulk?filter_path=items.*.status,items.*.error.type',
    )
    expect(JSON.parse(text)).to.deep.equal({
      items: [{ create: { status: 201 } }, { create: { status: 409, error: { type: 'version_conflict_engine_exception' } } }],
    })
  })

  it('carries conditions per item', async () => {
    await bulk(lines({ index: { _index: 'cond', _id: 'a' } }, { n: 1 }))
    const { body } = await bulk(
      lines(
        { index: { _index: 'cond', _id: 'a', if_seq_no: 0, if_primary_term: 1 } },
        { n: 2 },
        { delete: { _index: 'cond', _id: 'a', if_seq_no: 0, if_primary_term: 1 } },
      ),
    )
    expect(body.items[0].index.status).to.equal(200)
    expect(body.items[1].delete.status).to.equal(409)
  })

  it('an item for an index that cannot be made fails alone', async () => {
    const { body } = await bulk(
      lines(
        { index: { _index: 'UPPER', _id: 'a' } },
        {},
        { index: { _index: 'things', _id: 'ok' } },
        {},
        { delete: { _index: 'nowhere', _id: 'x' } },
      ),
    )
    expect(body.items[0].index).to.include({ status: 400 })
    expect(body.items[0].index.error.type).to.equal('invalid_index_name_exception')
    expect(body.items[1].index.status).to.equal(201)
    expect(body.items[2].delete).to.include({ status: 404 })
    expect((await store.request('HEAD', '/nowhere')).status).to.equal(404)
  })

  it('writes to the write index of an alias', async () => {
    await store.client.indices.create({ index: 'w-1' })
    await store.client.indices.create({ index: 'w-2' })
    await store.client.indices.updateAliases({
      body: { actions: [{ add: { index: 'w-1', alias: 'w' } }, { add: { index: 'w-2', alias: 'w', is_write_index: true } }] },
    })
    const { body } = await bulk(lines({ index: { _index: 'w', _id: 'a' } }, {}))
    expect(body.items[0].index._index).to.equal('w-2')
    await store.client.indices.updateAliases({ body: { actions: [{ add: { index: 'w-2', alias: 'w' } }] } })
    const refused = await bulk(lines({ index: { _index: 'w', _id: 'a' } }, {}))
    expect(refused.body.items[0].index.error.reason).to.contain('no write index is defined for alias [w]')
    expect((await bulk(lines({ index: { _index: 'things', _id: 'a', require_alias: true } }, {}))).body.items[0].index.status).to.equal(404)
  })

  for (const index of ['portions', 'service-logs-2026.11.20'])
    it(`with more operations than are worked off at a time is answered as any other: ${index}`, async () => {
      const actions = Array.from({ length: 9_000 }, (_none, at) => `{"create":{"_index":"${index}","_id":"${at % 8_900}"}}\n{"n":${at}}\n`)
      const { status, body } = await bulk(actions.join(''))
      expect([status, body.errors, body.items.length]).to.deep.equal([200, true, 9_000])
      const items = body.items.map(({ create }: { create: { _id: string; status: number } }) => `${create._id} ${create.status}`)
      expect(items).to.deep.equal(actions.map((_none, at) => `${at % 8_900} ${at < 8_900 ? 201 : 409}`))
      const few = await bulk(actions.join(''), '/_bulk?filter_path=errors&pretty')
      expect(few.text).to.equal('{\n  "errors": true\n}\n')
    })

  it('of which a late operation is malformed writes nothing, however many there are', async () => {
    const actions = '{"index":{"_index":"never"}}\n{}\n'.repeat(9_000)
    expect((await bulk(`${actions}nonsense\n`)).status).to.equal(400)
    expect((await store.request('HEAD', '/never')).status).to.equal(404)
  })

  const MALFORMED: readonly { name: string; body: string; reason: string }[] = [
    { name: 'empty', body: '', reason: 'request body is required' },
    { name: 'without a last newline', body: '{"index":{"_index":"a"}}\n{}', reason: 'terminated by a newline' },
    { name: 'an action that is no JSON', body: 'nonsense\n{}\n', reason: 'Malformed action/metadata line [1]' },
    { name: 'an unknown action', body: '{"upsert":{"_index":"a"}}\n{}\n', reason: 'Malformed action/metadata line [1]' },
    { name: 'two actions in one line', body: '{"index":{"_index":"a"},"create":{}}\n{}\n', reason: 'expected END_OBJECT' },
    { name: 'an unknown parameter', body: '{"index":{"_index":"a","foo":1}}\n{}\n', reason: 'unknown parameter [foo]' },
    { name: 'a pipeline', body: '{"index":{"_index":"a","pipeline":"p"}}\n{}\n', reason: '[pipeline] is not supported' },
    { name: 'without an index', body: '{"index":{"_id":"1"}}\n{}\n', reason: 'index is missing' },
    { name: 'a delete without an id', body: '{"delete":{"_index":"a"}}\n', reason: 'id is missing' },
    { name: 'without a document', body: '{"index":{"_index":"a"}}\n', reason: 'Malformed action/metadata line [1]' },
  ]
  for (const { name, body, reason } of MALFORMED)
    it(`refuses a body: ${name}`, async () => {
      const answer = await bulk(body)
      expect(answer.status).to.equal(400)
      expect(answer.body.error.reason).to.contain(reason)
    })

  it('refuses bodies that are too large, packed or not', async () => {
    const large = lines({ index: { _index: 'things' } }, { text: 'x'.repeat(1024 * 1024) })
    expect((await bulk(large)).status).to.equal(413)
    expect((await bulk(gzipSync(large), '/_bulk', { 'content-encoding': 'gzip' })).status).to.equal(413)
    expect((await bulk(Buffer.from('not gzip'), '/_bulk', { 'content-encoding': 'gzip' })).status).to.equal(400)
    expect((await bulk('{}', '/_bulk', { 'content-encoding': 'foo' })).status).to.equal(415)
  })

  it('refuses other media types', async () => {
    const answer = await store.request('POST', '/_bulk', 'x', { 'content-type': 'text/plain' })
    expect(answer.status).to.equal(406)
    expect(answer.body.error).to.equal('Content-Type header [text/plain] is not supported')
  })
})
