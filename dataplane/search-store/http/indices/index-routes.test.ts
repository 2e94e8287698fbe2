import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { useTestStore } from '../../testing/use-test-store.ts'

describe('indices, aliases, templates', () => {
  const store = useTestStore()

  it('introduces itself as an OpenSearch of version 3', async () => {
    const { body } = await store.client.info()
    expect(body.version).to.include({ distribution: 'opensearch' })
    expect(body.version.number).to.match(/^3\./)
    expect((await store.client.ping()).body).to.equal(true)
    expect((await store.request('GET', '/health')).body).to.deep.equal({ status: 'ok' })
  })

  it('creates, shows, finds and deletes an index', async () => {
    const created = await store.client.indices.create({
      index: 'one',
      body: {
        settings: { number_of_replicas: 2, 'index.refresh_interval': '5s' },
        mappings: { properties: { a: { type: 'keyword' } } },
        aliases: { uno: {} },
      },
    })
    expect(created.body).to.deep.equal({ acknowledged: true, shards_acknowledged: true, index: 'one' })
    const { body } = await store.client.indices.get({ index: 'one' })
    expect(body['one']!.aliases).to.deep.equal({ uno: {} })
    expect(body['one']!.mappings).to.deep.equal({ properties: { a: { type: 'keyword' } } })
    const settings = (await store.request('GET', '/one/_settings')).body.one.settings.index
    expect(settings).to.include({ number_of_shards: '1', number_of_replicas: '0', refresh_interval: '5s', provided_name: 'one' })
    expect((await store.client.indices.exists({ index: 'one' })).body).to.equal(true)
    expect((await store.client.indices.delete({ index: 'one' })).body).to.deep.equal({ acknowledged: true })
    expect((await store.client.indices.exists({ index: 'one' })).body).to.equal(false)
  })

  it('refuses names that are taken or not valid', async () => {
    await store.client.indices.create({ index: 'taken' })
    const again = await store.request('PUT', '/taken')
    expect(again.status).to.equal(400)
    expect(again.body.error.type).to.equal('resource_already_exists_exception')
    for (const name of ['Upper', '-dash', '+plus', 'a%23b', 'a%2Cb', 'x'.repeat(256), 'a%22b']) {
      const answer = await store.request('PUT', `/${name}`)
      expect(answer.status, name).to.equal(400)
    }
    expect((await store.request('PUT', '/Upper')).body.error).to.deep.include({
      type: 'invalid_index_name_exception',
      reason: 'Invalid index name [Upper], must be lowercase',
    })
    expect((await store.request('DELETE', '/nowhere')).status).to.equal(404)
  })

  const REFUSED_SETTINGS: readonly (readonly [settings: object, reason: string])[] = [
    [{ number_of_shards: 0 }, 'Failed to parse value [0] for setting [index.number_of_shards] must be >= 1'],
    [{ number_of_shards: 2_000 }, 'Failed to parse value [2000] for setting [index.number_of_shards] must be <= 1024'],
    [{ number_of_shards: '1.5' }, 'Failed to parse value [1.5] for setting [index.number_of_shards]'],
    [{ number_of_replicas: -1 }, 'Failed to parse value [-1] for setting [index.number_of_replicas] must be >= 0'],
    [
      { index: { refresh_interval: '5' } },
      'failed to parse setting [index.refresh_interval] with value [5] as a time value: unit is missing or unrecognized',
    ],
  ]
  for (const [settings, reason] of REFUSED_SETTINGS)
    it(`refuses an index, and a template, with the settings ${JSON.stringify(settings)}`, async () => {
      const index = await store.request('PUT', '/misset', { settings })
      const template = await store.request('PUT', '/_index_template/misset', { index_patterns: ['misset-*'], template: { settings } })
      for (const { status, body } of [index, template]) {
        expect(status).to.equal(400)
        expect(body.error).to.deep.include({ type: 'illegal_argument_exception', reason })
      }
    })

  it('takes the settings that ask for no refresh', async () => {
    const created = await store.request('PUT', '/unrefreshed', { settings: { refresh_interval: '-1', number_of_replicas: null } })
    expect(created.status).to.equal(200)
    expect((await store.request('PUT', '/unrefreshed/_settings', { refresh_interval: 'x' })).status).to.equal(400)
  })

  it('shows and extends mappings', async () => {
    await store.client.index({ index: 'grown', id: '1', body: { title: 'x', n: 1, 'user.id': 'u', at: '2026-11-21T00:00:00Z' } })
    await store.client.indices.putMapping({ index: 'grown', body: { properties: { extra: { type: 'keyword' } } } })
    const { body } = await store.client.indices.getMapping({ index: 'grown' })
    expect(body['grown']!.mappings.properties).to.deep.equal({
      at: { type: 'date' },
      extra: { type: 'keyword' },
      n: { type: 'long' },
      title: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } },
      user: { properties: { id: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } } } },
    })
    const refused = await store.request('PUT', '/grown/_mapping', { properties: { n: { type: 'keyword' } } })
    expect(refused.status).to.equal(400)
    expect(refused.body.error.reason).to.contain('cannot be changed from type [long] to [keyword]')
    expect((await store.request('PUT', '/grown/_mapping', { properties: { z: { type: 'foo' } } })).status).to.equal(400)
  })

  describe('templates', () => {
    it('the best that matches shapes a new index', async () => {
      await store.client.indices.putIndexTemplate({
        name: 'low',
        body: { index_patterns: ['logs-*'], priority: 1, template: { mappings: { properties: { a: { type: 'text' } } } } },
      })
      await store.client.indices.putIndexTemplate({
        name: 'high',
        body: {
          index_patterns: ['logs-*'],
          priority: 10,
          template: {
            settings: { index: { refresh_interval: '1s' } },
            mappings: { properties: { a: { type: 'keyword' } } },
            aliases: { everything: {} },
          },
          version: 3,
          _meta: { by: 'test' },
        },
      })
      await store.client.index({ index: 'logs-1', id: '1', body: { a: 'x y' } })
      expect((await store.request('GET', '/logs-1/_mapping')).body['logs-1'].mappings.properties.a).to.deep.equal({ type: 'keyword' })
      expect((await store.request('GET', '/everything/_count')).body.count).to.equal(1)
    })

    it('are shown and deleted', async () => {
      const { body } = await store.client.indices.getIndexTemplate({ name: 'high' })
      expect(body.index_templates).to.deep.equal([
        {
          name: 'high',
          index_template: {
            index_patterns: ['logs-*'],
            template: {
              settings: { index: { refresh_interval: '1s' } },
              mappings: { properties: { a: { type: 'keyword' } } },
              aliases: { everything: {} },
            },
            composed_of: [],
            priority: 10,
            version: 3,
            _meta: { by: 'test' },
          },
        },
      ])
      expect((await store.client.indices.existsIndexTemplate({ name: 'high' })).body).to.equal(true)
      expect((await store.client.indices.deleteIndexTemplate({ name: 'low' })).body).to.deep.equal({ acknowledged: true })
      expect((await store.request('GET', '/_index_template/low')).status).to.equal(404)
      expect((await store.request('DELETE', '/_index_template/low')).body.error.reason).to.equal('index_template [low] missing')
    })

    it('are shown without a priority that was not given', async () => {
      await store.client.indices.putIndexTemplate({ name: 'plain', body: { index_patterns: ['plain-*'] } })
      const { body } = await store.client.indices.getIndexTemplate({ name: 'plain' })
      expect(body.index_templates[0]!.index_template).to.deep.equal({ index_patterns: ['plain-*'], template: {}, composed_of: [] })
      await store.client.indices.deleteIndexTemplate({ name: 'plain' })
    })

    it('of the older kind apply where no newer one does', async () => {
      await store.request('PUT', '/_template/old', {
        index_patterns: ['old-*'],
        order: 1,
        mappings: { properties: { b: { type: 'long' } } },
      })
      await store.client.index({ index: 'old-1', id: '1', body: { b: '7' } })
      expect((await store.request('GET', '/old-1/_mapping')).body['old-1'].mappings.properties.b).to.deep.equal({ type: 'long' })
    })

    it('are refused when their mapping could not be used', async () => {
      for (const body of [
        {},
        { index_patterns: [], template: {} },
        { index_patterns: ['x'], template: { mappings: { properties: { a: { type: 'foo' } } } } },
        { index_patterns: ['x'], composed_of: ['c'] },
        { index_patterns: ['x'], data_stream: { hidden: true } },
        { index_patterns: ['x'], template: { aliases: { a: { filter: { foo: {} } } } } },
        { index_patterns: ['x'], foo: 1 },
      ]) {
        const answer = await store.request('PUT', '/_index_template/bad', body)
        expect(answer.status, JSON.stringify(body)).to.equal(400)
      }
    })
  })

  describe('aliases', () => {
    before(async () => {
      for (const day of ['20', '21'])
        await store.client.bulk({
          body: ['acme', 'globex'].flatMap(tenant => [
            { index: { _index: `service-logs-2026.11.${day}`, _id: `${tenant}-${day}` } },
            { timestamp: `2026-11-${day}T00:00:00Z`, tenant_id: tenant, service: 's', level: 'INFO', message: 'hello' },
          ]) as never,
        })
      for (const tenant of ['acme', 'globex'])
        await store.client.indices.putAlias({
          index: 'service-logs-*',
          name: `service-logs-${tenant}`,
          body: { filter: { match: { tenant_id: tenant } } },
        })
    })

    const idsThrough = async (expression: string) =>
      ((await store.request('GET', `/${expression}/_search?sort=_id`)).body.hits.hits as { _id: string }[]).map(hit => hit._id)

    it('a filtered alias shows its documents alone', async () => {
      expect(await idsThrough('service-logs-acme')).to.deep.equal(['acme-20', 'acme-21'])
      expect((await store.request('GET', '/service-logs-acme/_count')).body.count).to.equal(2)
    })

    it('several filtered aliases show what any of them does', async () => {
      expect(await idsThrough('service-logs-acme,service-logs-globex')).to.have.length(4)
    })

    it('a wildcard that names the index itself is not filtered', async () => {
      expect(await idsThrough('service-logs-*')).to.have.length(4)
      expect(await idsThrough('service-logs-acm*')).to.have.length(2)
    })

    it('are listed', async () => {
      const { body } = await store.client.indices.getAlias({ name: 'service-logs-acme' })
      expect(Object.keys(body)).to.have.members(['service-logs-2026.11.20', 'service-logs-2026.11.21'])
      expect(body['service-logs-2026.11.20']!.aliases['service-logs-acme']).to.deep.equal({ filter: { match: { tenant_id: 'acme' } } })
      const missing = await store.request('GET', '/_alias/none')
      expect(missing.status).to.equal(404)
      expect(missing.body.error).to.equal('alias [none] missing')
      expect((await store.request('HEAD', '/_alias/service-logs-acme')).status).to.equal(200)
      expect((await store.request('GET', '/_cat/aliases?h=alias,filter&s=alias,index')).text.split('\n')[1]).to.match(
        /service-logs-acme +\*/,
      )
    })

    it('that are not there are removed without complaint beside other changes, unless all have to be there', async () => {
      const index = 'service-logs-2026.11.20'
      const change = async (...actions: object[]) => (await store.request('POST', '/_aliases', { actions })).status
      const remove = (aliases: readonly string[], must_exist?: boolean) => ({ remove: { index, aliases, must_exist } })
      const add = { add: { index, alias: 'beside' } }
      const isThere = async () => (await store.request('HEAD', '/_alias/beside')).status === 200
      expect(await change(add, remove(['none'], true))).to.equal(404)
      expect(await isThere()).to.equal(false)
      expect(await change(add, remove(['none']))).to.equal(200)
      expect(await isThere()).to.equal(true)
      expect(await change(remove(['beside', 'none'], true))).to.equal(404)
      expect(await change(remove(['none']), remove(['neither']))).to.equal(404)
      expect(await change(remove(['none']), remove(['neither'], false))).to.equal(200)
      expect(await change(remove(['besid*', 'none']))).to.equal(200)
      expect(await isThere()).to.equal(false)
    })

    it('change all together or not at all', async () => {
      const refused = await store.request('POST', '/_aliases', {
        actions: [{ add: { index: 'taken', alias: 'fresh' } }, { add: { index: 'taken', alias: 'grown' } }],
      })
      expect(refused.status).to.equal(400)
      expect(refused.body.error.type).to.equal('invalid_alias_name_exception')
      expect((await store.request('HEAD', '/_alias/fresh')).status).to.equal(404)
      expect((await store.request('POST', '/_aliases', { actions: [{ remove: { index: 'taken', alias: 'none' } }] })).status).to.equal(404)
    })

    it('cannot be deleted as an index, nor written to when they stand for several', async () => {
      const answer = await store.request('DELETE', '/service-logs-acme')
      expect(answer.status).to.equal(400)
      expect(answer.body.error.reason).to.contain('matches an alias')
      expect((await store.request('PUT', '/service-logs-acme/_doc/1', {})).status).to.equal(400)
      expect((await store.request('GET', '/service-logs-acme/_doc/1')).body.error.reason).to.contain('more than one index')
    })
  })

  describe('the rest', () => {
    it('_delete_by_query deletes what matches, through aliases too', async () => {
      const { body } = await store.client.deleteByQuery({ index: 'service-logs-globex', body: { query: { match_all: {} } } })
      expect(body).to.deep.include({ total: 2, deleted: 2, version_conflicts: 0, failures: [] })
      expect((await store.request('GET', '/service-logs-*/_count')).body.count).to.equal(2)
      expect((await store.request('POST', '/service-logs-*/_delete_by_query', {})).status).to.equal(400)
    })

    it('analyses text as the standard analyzer does', async () => {
      const { body } = await store.client.indices.analyze({ body: { analyzer: 'standard', text: 'The QUICK-fox 42' } })
      expect(
        body.tokens!.map(({ token, start_offset, end_offset, position }) => [token, start_offset, end_offset, position]),
      ).to.deep.equal([
        ['the', 0, 3, 0],
        ['quick', 4, 9, 1],
        ['fox', 10, 13, 2],
        ['42', 14, 16, 3],
      ])
      expect((await store.request('POST', '/_analyze', { text: 'a', analyzer: 'french' })).status).to.equal(400)
    })

    it('says of what kind a token is', async () => {
      const text = '42 3.5 1,000 10.0.0.1 3a v1.2 0x1F é 漢字 ひ カー 한글 ไทย 😀'
      const { body } = await store.client.indices.analyze({ body: { analyzer: 'standard', text } })
      // As OpenSearch 3.5 answers.
      expect(body.tokens!.map(({ token, type }) => token + type).join(' ')).to.equal(
        '42<NUM> 3.5<NUM> 1,000<NUM> 10.0.0.1<NUM> 3a<ALPHANUM> v1.2<ALPHANUM> 0x1f<ALPHANUM> é<ALPHANUM> ' +
          '漢<IDEOGRAPHIC> 字<IDEOGRAPHIC> ひ<HIRAGANA> カー<KATAKANA> 한글<HANGUL> ไทย<SOUTHEAST_ASIAN> 😀<EMOJI>',
      )
    })

    it('_cat/indices has the columns of the specification', async () => {
      const { body } = await store.client.cat.indices({ format: 'json', index: 'taken,grown' })
      const rows = body as unknown as Record<string, string>[]
      expect(rows.map(row => row['index'])).to.have.members(['taken', 'grown'])
      const grown = rows.find(row => row['index'] === 'grown')!
      expect(grown).to.include({ health: 'green', status: 'open', 'docs.count': '1', 'docs.deleted': '0', pri: '1', rep: '0' })
      expect(grown['store.size']).to.match(/^\d+(\.\d)?[kmg]?b$/)
      const { text } = await store.request('GET', '/_cat/indices/taken?v&h=index,docs.count')
      expect(text).to.equal('index docs.count\ntaken          0\n')
      expect((await store.request('GET', '/_cat/indices?format=yaml')).status).to.equal(400)
    })

    it('_cat answers JSON where the format or else the header Accept asks for it', async () => {
      const cat = async (accept: string, parameters = '') =>
        (await store.request('GET', `/_cat/indices/taken?h=index${parameters}`, undefined, { accept })).text
      const asJson = '[{"index":"taken"}]'
      for (const accept of ['application/json', 'Application/JSON; charset=utf-8', 'application/*', 'application/vnd.opensearch+json'])
        expect(await cat(accept), accept).to.equal(asJson)
      for (const accept of ['*/*', 'text/plain', 'application/json, text/plain, */*']) expect(await cat(accept), accept).to.equal('taken\n')
      expect(await cat('text/plain', '&format=json')).to.equal(asJson)
      expect(await cat('application/json', '&format=text')).to.equal('taken\n')
    })

    it('_cluster/health is green with every index counted', async () => {
      const { body } = await store.client.cluster.health()
      expect(body).to.include({
        cluster_name: 'logpipeline',
        status: 'green',
        number_of_nodes: 1,
        number_of_data_nodes: 1,
        timed_out: false,
      })
      expect(body.active_primary_shards).to.equal(body.active_shards)
      expect(body.active_shards).to.be.greaterThan(3)
    })

    it('answers refresh, flush, stats and the other calls of clients', async () => {
      expect((await store.client.indices.refresh({ index: 'grown' })).body._shards).to.deep.equal({ total: 1, successful: 1, failed: 0 })
      expect((await store.client.indices.flush({ index: 'grown' })).statusCode).to.equal(200)
      expect((await store.client.indices.stats({ index: 'grown' })).body._all.primaries!.docs!.count).to.equal(1)
      expect((await store.client.cluster.getSettings()).body).to.deep.equal({ persistent: {}, transient: {} })
      expect((await store.client.cluster.stats()).body.indices!.count).to.be.greaterThan(3)
      expect((await store.client.nodes.info()).statusCode).to.equal(200)
      expect((await store.client.cat.health({ format: 'json' })).statusCode).to.equal(200)
      expect((await store.client.cat.count({ format: 'json', index: 'grown' })).statusCode).to.equal(200)
      expect((await store.request('GET', '/_cat/nodes')).status).to.equal(200)
      expect((await store.request('GET', '/_cat/shards/grown')).text).to.match(/^grown 0 p STARTED 1 /)
      expect((await store.client.fieldCaps({ index: 'grown', fields: ['n'] })).body.fields!['n']!['long']).to.include({ searchable: true })
    })

    it('keeps indices, aliases, templates and mappings through a restart', async () => {
      const paths = [
        '/_mapping',
        '/_alias',
        '/_settings',
        '/_index_template',
        '/_template',
        '/_cat/indices?format=json&h=index,uuid,docs.count',
      ]
      const show = async () => Promise.all(paths.map(async path => (await store.request('GET', path)).body))
      const before = await show()
      await store.restart()
      expect(await show()).to.deep.equal(before)
    })

    it('deletes by wildcard', async () => {
      await store.client.indices.delete({ index: 'service-logs-*' })
      expect((await store.request('GET', '/_cat/indices?h=index')).text).to.not.contain('service-logs')
      expect((await store.request('HEAD', '/_alias/service-logs-acme')).status).to.equal(404)
    })
  })
})
