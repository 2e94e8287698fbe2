import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { NOW_MS, startTestStore, type TestStore } from '../../testing/test-store.ts'

const TEMPLATE = {
  index_patterns: ['logs-*'],
  data_stream: {},
  template: { settings: { number_of_shards: 1 }, mappings: { properties: { level: { type: 'keyword' } } }, aliases: { everything: {} } },
}
const AT = '2026-11-21T10:00:00.000Z'
const FIRST = '.ds-logs-app-000001'
const SECOND = '.ds-logs-app-000002'

describe('data streams', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await startTestStore()
    await expectOk('PUT', '/_index_template/logs', TEMPLATE)
  })
  afterEach(async () => {
    expect(store.logged).to.deep.equal([])
    await store.stop()
  })

  async function expectOk(method: string, path: string, body?: unknown) {
    const answer = await store.request(method, path, body)
    expect(answer.status, answer.text).to.be.below(300)
    return answer.body
  }

  async function reasonOf(status: number, method: string, path: string, body?: unknown): Promise<string> {
    const answer = await store.request(method, path, body)
    expect(answer.status, answer.text).to.equal(status)
    const { reason, caused_by } = answer.body.error
    return caused_by?.reason ?? reason
  }

  const bulk = async (...lines: readonly unknown[]) =>
    (await expectOk('POST', '/_bulk', `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)).items
  const ids = async (index: string) => {
    const { hits } = await expectOk('POST', `/${index}/_search`, { sort: ['_doc'] })
    return hits.hits.map((hit: { _id: string }) => hit._id)
  }
  const streamNames = async () => (await expectOk('GET', '/_data_stream')).data_streams.map(({ name }: { name: string }) => name)

  it('are made by name, shown and deleted with all of their indices', async () => {
    await expectOk('PUT', '/_data_stream/logs-app')
    const [shown] = (await expectOk('GET', '/_data_stream/logs-*')).data_streams
    const [index] = shown.indices
    expect(shown).to.deep.equal({
      name: 'logs-app',
      timestamp_field: { name: '@timestamp' },
      indices: [{ index_name: FIRST, index_uuid: index.index_uuid }],
      generation: 1,
      status: 'GREEN',
      template: 'logs',
    })
    const about = (await expectOk('GET', '/logs-app'))[FIRST]
    expect(about.data_stream).to.equal('logs-app')
    expect(about.settings.index.hidden).to.equal('true')
    expect(about.aliases).to.deep.equal({ everything: {} })
    expect(about.mappings).to.deep.equal({
      _data_stream_timestamp: { enabled: true },
      properties: { '@timestamp': { type: 'date' }, level: { type: 'keyword' } },
    })
    await expectOk('DELETE', '/_data_stream/logs-app')
    expect(await streamNames()).to.deep.equal([])
    expect((await store.request('HEAD', `/${FIRST}`)).status).to.equal(404)
    await expectOk('DELETE', '/_data_stream/logs-app')
  })

  it('need a template of data streams, and a name of their own', async () => {
    expect(await reasonOf(400, 'PUT', '/_data_stream/other')).to.equal('no matching index template found for data stream [other]')
    expect(await reasonOf(400, 'PUT', '/_data_stream/Logs-a')).to.contain('must be lowercase')
    expect(await reasonOf(400, 'PUT', '/_data_stream/.logs-a')).to.contain("must not start with '.'")
    await expectOk('PUT', '/_data_stream/logs-app')
    expect(await reasonOf(400, 'PUT', '/_data_stream/logs-app')).to.equal('data_stream [logs-app] already exists')
    expect(await reasonOf(400, 'PUT', '/logs-app')).to.contain('already exists as data stream')
    expect(await reasonOf(400, 'PUT', '/logs-b')).to.contain('matches with template [logs] that creates data streams only')
    await expectOk('PUT', '/plain')
    expect(await reasonOf(400, 'PUT', '/plain/_alias/logs-app')).to.contain('an index or data stream exists with the same name')
    expect(await reasonOf(404, 'GET', '/_data_stream/none')).to.equal('no such index [none]')
    expect((await expectOk('GET', '/_data_stream/none*')).data_streams).to.deep.equal([])
  })

  it('begin with the first document that is created in them', async () => {
    const { _index, result } = await expectOk('POST', '/logs-app/_doc', { '@timestamp': AT, level: 'INFO' })
    expect({ _index, result }).to.deep.equal({ _index: FIRST, result: 'created' })
    const items = await bulk({ create: { _index: 'logs-other', _id: 'a' } }, { '@timestamp': AT })
    expect(items[0].create).to.deep.include({ _index: '.ds-logs-other-000001', _id: 'a', status: 201 })
    expect(await streamNames()).to.deep.equal(['logs-app', 'logs-other'])
  })

  it('begin once, also when many writers begin them together', async () => {
    const writes = Array.from({ length: 8 }, (_, at) => bulk({ create: { _index: 'logs-app', _id: `d${at}` } }, { '@timestamp': AT }))
    for (const [item] of await Promise.all(writes)) expect(item.create).to.deep.include({ _index: FIRST, status: 201 })
    expect(await ids('logs-app')).to.have.length(8)
  })

  it('take documents that are created, and nothing else', async () => {
    const document = { '@timestamp': AT }
    const items = await bulk(
      ...[{ index: { _index: 'logs-app', _id: 'a' } }, document],
      ...[{ create: { _index: 'logs-app', _id: 'b' } }, document],
      ...[{ create: { _index: 'logs-app', _id: 'b' } }, document],
      ...[{ update: { _index: 'logs-app', _id: 'b' } }, { doc: { level: 'WARN' } }],
      { delete: { _index: 'logs-app', _id: 'b' } },
    )
    const only = 'only write ops with an op_type of create are allowed in data streams'
    expect(items.map((item: object) => Object.values(item)[0].status)).to.deep.equal([400, 201, 409, 400, 400])
    for (const at of [0, 3, 4]) expect((Object.values(items[at])[0] as { error: { reason: string } }).error.reason).to.equal(only)
    expect(await reasonOf(400, 'PUT', '/logs-app/_doc/c', document)).to.equal(only)
    expect(await reasonOf(400, 'POST', '/logs-app/_doc?op_type=index', document)).to.equal(only)
    expect(await reasonOf(400, 'POST', '/logs-app/_update/b', { doc: {} })).to.equal(only)
    expect(await reasonOf(400, 'DELETE', '/logs-app/_doc/b')).to.equal(only)
    await expectOk('PUT', '/logs-app/_create/c', document)
    await expectOk('PUT', '/logs-app/_doc/d?op_type=create', document)
    expect(await ids('logs-app')).to.deep.equal(['b', 'c', 'd'])
  })

  it('are not begun by a document that they do not take', async () => {
    const [item] = await bulk({ index: { _index: 'logs-app', _id: 'a' } }, { '@timestamp': AT })
    expect(item.index.status).to.equal(400)
    expect((await store.request('POST', '/logs-app/_update/a', { doc: {}, doc_as_upsert: true })).status).to.equal(400)
    expect(await reasonOf(404, 'DELETE', '/logs-app/_doc/a')).to.contain('no such index')
    expect(await streamNames()).to.deep.equal([])
  })

  for (const [name, document] of Object.entries({
    'without a timestamp': { level: 'INFO' },
    'whose timestamp is null': { '@timestamp': null },
    'whose timestamp is an empty list': { '@timestamp': [] },
    'with two timestamps': { '@timestamp': [AT, AT] },
  }))
    it(`refuse a document ${name}`, async () => {
      const reason = "documents must contain a single-valued timestamp field '@timestamp' of date type"
      expect(await reasonOf(400, 'POST', '/logs-app/_doc', document)).to.equal(reason)
      const [item] = await bulk({ create: { _index: 'logs-app' } }, document)
      expect(item.create.error.caused_by.reason).to.equal(reason)
    })

  it('take a list of one timestamp, and bodies laid out in lines', async () => {
    await expectOk('POST', '/logs-app/_doc', { '@timestamp': [AT] })
    await expectOk('POST', '/logs-app/_doc', `\n{\n  "@timestamp": "${AT}"\n}\n`)
    expect(await reasonOf(400, 'POST', '/logs-app/_doc', { '@timestamp': 'yesterday' })).to.contain('yesterday')
    expect(await reasonOf(400, 'POST', '/logs-app/_doc', '{"@timestamp":')).to.be.a('string')
  })

  it('have another timestamp field where the template names one', async () => {
    await expectOk('PUT', '/_index_template/events', { index_patterns: ['events-*'], data_stream: { timestamp_field: { name: 'at' } } })
    expect(await reasonOf(400, 'POST', '/events-a/_doc', { '@timestamp': AT })).to.contain("timestamp field 'at'")
    await expectOk('POST', '/events-a/_doc', { at: AT })
    const { mappings } = (await expectOk('GET', '/events-a'))['.ds-events-a-000001']
    expect(mappings._data_stream_timestamp).to.deep.equal({ enabled: true, timestamp_field: { name: 'at' } })
    const [{ index_template }] = (await expectOk('GET', '/_index_template/events')).index_templates
    expect(index_template.data_stream).to.deep.equal({ timestamp_field: { name: 'at' } })
  })

  it('are refused where the template cannot serve them', async () => {
    const put = (body: object) => reasonOf(400, 'PUT', '/_index_template/x', { index_patterns: ['x-*'], ...body })
    expect(await put({ data_stream: { hidden: true } })).to.contain('hidden')
    expect(await put({ data_stream: { timestamp_field: { name: 'a.b' } } })).to.contain('a.b')
    const mappings = { properties: { '@timestamp': { type: 'keyword' } } }
    expect(await put({ data_stream: {}, template: { mappings } })).to.contain('is of type [keyword], but [date,date_nanos] is expected')
  })

  it('are refused once a component has made something else of the timestamp', async () => {
    const component = (type: string) => ({ template: { mappings: { properties: { '@timestamp': { type } } } } })
    await expectOk('PUT', '/_component_template/at', component('date_nanos'))
    await expectOk('PUT', '/_index_template/events', { index_patterns: ['events-*'], data_stream: {}, composed_of: ['at'] })
    await expectOk('PUT', '/_data_stream/events-a')
    await expectOk('PUT', '/_component_template/at', component('keyword'))
    expect(await reasonOf(400, 'POST', '/events-a/_rollover')).to.contain('is of type [keyword]')
    expect(await reasonOf(400, 'PUT', '/_data_stream/events-b')).to.contain('is of type [keyword]')
    expect(await streamNames()).to.deep.equal(['events-a'])
  })

  it('keep the templates that they were made from', async () => {
    await expectOk('PUT', '/_data_stream/logs-app')
    expect(await reasonOf(400, 'DELETE', '/_index_template/logs')).to.contain('in use by a data streams [logs-app]')
    expect(await reasonOf(400, 'PUT', '/_index_template/logs', { index_patterns: ['logs-*'] })).to.contain('no longer match')
    expect(await reasonOf(400, 'PUT', '/_index_template/logs', { index_patterns: ['zz-*'], data_stream: {} })).to.contain('no longer match')
    expect(await reasonOf(400, 'PUT', '/_index_template/a', { index_patterns: ['logs-app'], priority: 9 })).to.contain('no longer match')
    await expectOk('PUT', '/_index_template/logs', { ...TEMPLATE, priority: 5 })
    await expectOk('DELETE', '/_data_stream/*')
    await expectOk('DELETE', '/_index_template/logs')
  })

  it('are searched by their names and by patterns; their indices are passed over', async () => {
    await expectOk('PUT', '/plain/_doc/p', { level: 'INFO' })
    await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT })
    await expectOk('PUT', '/logs-other/_create/b', { '@timestamp': AT })
    const both = ['a', 'b']
    expect(await ids('logs-app')).to.deep.equal(['a'])
    expect((await ids('logs-*')).sort()).to.deep.equal(both)
    expect((await ids('_all')).sort()).to.deep.equal([...both, 'p'])
    expect((await ids('*')).sort()).to.deep.equal([...both, 'p'])
    expect(await ids('logs-*,-logs-app')).to.deep.equal(['b'])
    expect((await ids('everything')).sort()).to.deep.equal(both)
    expect(await ids(FIRST)).to.deep.equal(['a'])
    expect(await ids('*app*')).to.deep.equal(['a'])
    expect((await expectOk('GET', '/logs-*/_count')).count).to.equal(2)
    expect(await reasonOf(404, 'GET', '/logs-app/_doc/a')).to.contain('no such index')
    await expectOk('GET', `/${FIRST}/_doc/a`)
  })

  it('are told apart from indices and aliases', async () => {
    await expectOk('POST', '/logs-app/_doc', { '@timestamp': AT })
    const streams = [{ name: 'logs-app', backing_indices: [FIRST], timestamp_field: '@timestamp' }]
    expect(await expectOk('GET', '/_resolve/index/logs-*')).to.deep.equal({ indices: [], aliases: [], data_streams: streams })
    const { indices } = await expectOk('GET', '/_resolve/index/.ds-*')
    expect(indices).to.deep.equal([{ name: FIRST, aliases: ['everything'], attributes: ['open', 'hidden'], data_stream: 'logs-app' }])
    expect((await store.request('GET', '/_cat/indices/logs-*?h=index,docs.count')).text).to.equal(`${FIRST} 1\n`)
    expect((await store.request('GET', '/_cat/indices?h=index')).text).to.equal(`${FIRST}\n`)
    expect((await store.request('HEAD', '/logs-app')).status).to.equal(200)
    expect(await reasonOf(404, 'PUT', '/logs-app/_alias/q')).to.equal('no such index [logs-app]')
    expect(await reasonOf(404, 'GET', '/logs-app/_alias')).to.equal('no such index [logs-app]')
    expect(await reasonOf(404, 'POST', '/logs-app/_close')).to.equal('no such index [logs-app]')
    expect(await reasonOf(404, 'DELETE', '/logs-app')).to.equal('no such index [logs-app]')
    await expectOk('DELETE', '/logs-*')
    await expectOk('PUT', '/logs-app/_mapping', { properties: { more: { type: 'keyword' } } })
    expect((await expectOk('GET', '/logs-app/_mapping'))[FIRST].mappings.properties).to.have.property('more')
  })

  it('keep their documents in indices that are changed by their own names alone', async () => {
    await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT })
    expect(await reasonOf(400, 'PUT', `/${FIRST}/_create/b`, { '@timestamp': AT })).to.contain('op_type=create targeting backing indices')
    expect(await reasonOf(400, 'PUT', `/${FIRST}/_doc/a`, { '@timestamp': AT })).to.contain('op_type=index and no if_primary_term')
    expect(await reasonOf(400, 'PUT', `/${FIRST}/_doc/a?if_seq_no=0&if_primary_term=1`, { level: 'INFO' })).to.contain('timestamp field')
    await expectOk('PUT', `/${FIRST}/_doc/a?if_seq_no=0&if_primary_term=1`, { '@timestamp': AT, level: 'WARN' })
    await expectOk('POST', `/${FIRST}/_update/a`, { doc: { level: 'ERROR' } })
    await expectOk('DELETE', `/${FIRST}/_doc/a`)
    expect(await ids('logs-app')).to.deep.equal([])
  })

  it('roll over to a new index, and are read over both', async () => {
    await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT })
    const waiting = await expectOk('POST', '/logs-app/_rollover', { conditions: { max_docs: 2 } })
    expect(waiting).to.deep.include({ rolled_over: false, old_index: FIRST, new_index: SECOND, conditions: { '[max_docs: 2]': false } })
    expect(await expectOk('POST', '/logs-app/_rollover?dry_run', {})).to.deep.include({ rolled_over: false, dry_run: true })
    expect(await expectOk('POST', '/logs-app/_rollover')).to.deep.include({ rolled_over: true, acknowledged: true, conditions: {} })
    expect((await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT }))._index).to.equal(SECOND)
    expect(await ids('logs-app')).to.deep.equal(['a', 'a'])
    expect((await expectOk('GET', '/_data_stream/logs-app')).data_streams[0]).to.deep.include({ generation: 2 })
    expect(await reasonOf(400, 'POST', '/logs-app/_rollover/mine')).to.contain('new index name may not be specified')
    expect(await reasonOf(400, 'POST', '/logs-app/_rollover', { settings: {} })).to.contain('may not be specified')
  })

  it('lose older indices one by one, never the one that is written to', async () => {
    await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT })
    await expectOk('POST', '/logs-app/_rollover')
    expect(await reasonOf(400, 'DELETE', `/${SECOND}`)).to.contain('is the write index for data stream [logs-app]')
    expect(await reasonOf(400, 'DELETE', '/.ds-*')).to.contain('is the write index')
    await expectOk('DELETE', `/${FIRST}`)
    expect((await expectOk('GET', '/_data_stream/logs-app')).data_streams[0].indices).to.have.length(1)
    expect(await ids('logs-app')).to.deep.equal([])
    await expectOk('POST', '/logs-app/_rollover')
    expect((await expectOk('GET', '/_data_stream/logs-app')).data_streams[0].generation).to.equal(3)
  })

  it('are there after a restart, with their indices in order', async () => {
    await expectOk('PUT', '/logs-app/_create/a', { '@timestamp': AT })
    await expectOk('POST', '/logs-app/_rollover')
    const before = await expectOk('GET', '/_data_stream')
    await store.restart()
    expect(await expectOk('GET', '/_data_stream')).to.deep.equal(before)
    expect((await expectOk('PUT', '/logs-app/_create/b', { '@timestamp': AT }))._index).to.equal(SECOND)
    expect(await ids('logs-app')).to.deep.equal(['a', 'b'])
    expect((await expectOk('GET', '/_index_template/logs')).index_templates[0].index_template.data_stream).to.be.an('object')
  })
})

describe('the rollover of an alias', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await startTestStore()
  })
  afterEach(() => store.stop())

  const request = async (method: string, path: string, body?: unknown) => (await store.request(method, path, body)).body
  const aliases = () => request('GET', '/_alias/logs')

  it('moves an alias of one index to the next number', async () => {
    await request('PUT', '/logs-000009', { aliases: { logs: { filter: { term: { a: 1 } } } } })
    const { old_index, new_index } = await request('POST', '/logs/_rollover', { mappings: { properties: { b: { type: 'keyword' } } } })
    expect([old_index, new_index]).to.deep.equal(['logs-000009', 'logs-000010'])
    expect(await aliases()).to.deep.equal({ 'logs-000010': { aliases: { logs: { filter: { term: { a: 1 } } } } } })
    expect((await request('GET', '/logs-000010'))['logs-000010'].mappings.properties.b.type).to.equal('keyword')
  })

  it('leaves old indices to an alias that says which one it writes to', async () => {
    await request('PUT', '/logs-1', { aliases: { logs: { is_write_index: true } } })
    await request('POST', '/logs/_rollover')
    expect(await aliases()).to.deep.equal({
      'logs-1': { aliases: { logs: { is_write_index: false } } },
      'logs-000002': { aliases: { logs: { is_write_index: true } } },
    })
    expect((await request('POST', '/logs/_doc', {}))._index).to.equal('logs-000002')
  })

  it('keeps the date math of a name', async () => {
    const day = new Date(NOW_MS).toISOString().slice(0, 10).replaceAll('-', '.')
    await request('PUT', `/${encodeURIComponent('<logs-{now/d}-000001>')}`, { aliases: { logs: {} } })
    expect((await request('POST', '/logs/_rollover')).new_index).to.equal(`logs-${day}-000002`)
    await store.restart()
    const settings = await request('GET', `/logs-${day}-000002/_settings`)
    expect(settings[`logs-${day}-000002`].settings.index.provided_name).to.equal('<logs-{now/d}-000002>')
  })

  it('waits for one of its conditions', async () => {
    await request('PUT', '/logs-1', { aliases: { logs: {} } })
    const conditions = { max_docs: 1, max_age: '7d', max_size: '5GB' }
    const waiting = await request('POST', '/logs/_rollover', { conditions })
    expect(waiting.conditions).to.deep.equal({ '[max_docs: 1]': false, '[max_age: 7d]': false, '[max_size: 5gb]': false })
    await request('POST', '/logs/_doc', {})
    const done = await request('POST', '/logs/_rollover', { conditions })
    expect(done).to.deep.include({ rolled_over: true })
    expect(done.conditions['[max_docs: 1]']).to.equal(true)
  })

  it('is refused where there is no next index', async () => {
    const reason = async (path: string, body?: unknown) => (await request('POST', path, body)).error.reason
    await request('PUT', '/plain', { aliases: { named: {} } })
    await request('PUT', '/logs-1', { aliases: { logs: {}, read: { is_write_index: false } } })
    await request('PUT', '/logs-000002')
    expect(await reason('/none/_rollover')).to.equal('rollover target [none] does not exist')
    expect(await reason('/plain/_rollover')).to.contain('is a [concrete index]')
    expect(await reason('/read/_rollover')).to.contain('does not point to a write index')
    expect(await reason('/named/_rollover')).to.contain("does not match pattern '^.*-\\d+$'")
    expect(await reason('/logs/_rollover')).to.contain('already exists')
    expect(await reason('/logs/_rollover?dry_run')).to.contain('already exists')
    expect(await reason('/logs/_rollover/a|b')).to.contain('Invalid index name')
    expect(await reason('/logs/_rollover/ok', { conditions: { max_foo: 1 } })).to.contain('unknown field [max_foo]')
    expect(await reason('/logs/_rollover/ok', { conditions: { max_size: '5' } })).to.contain('unit is missing')
  })
})
