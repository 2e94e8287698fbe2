import { expect } from 'chai'
import { describe, it } from 'mocha'
import { useTestStore } from '../../testing/use-test-store.ts'

for (const index of ['books', 'service-anomalies-acme'])
  describe(`documents in ${index}`, () => {
    const store = useTestStore()

    it('creates the index with the first document', async () => {
      const { statusCode, body } = await store.client.index({ index, id: 'a', body: { title: 'One' } })
      expect(statusCode).to.equal(201)
      expect(body).to.deep.equal({
        _index: index,
        _id: 'a',
        _version: 1,
        result: 'created',
        _shards: { total: 1, successful: 1, failed: 0 },
        _seq_no: 0,
        _primary_term: 1,
      })
    })

    it('overwrites and counts versions', async () => {
      const { statusCode, body } = await store.client.index({ index, id: 'a', body: { title: 'Two' }, refresh: true })
      expect(statusCode).to.equal(200)
      expect(body).to.include({ result: 'updated', _version: 2, _seq_no: 1, forced_refresh: true })
    })

    it('shows a document at once', async () => {
      const { body } = await store.client.get({ index, id: 'a' })
      expect(body).to.deep.equal({
        _index: index,
        _id: 'a',
        _version: 2,
        _seq_no: 1,
        _primary_term: 1,
        found: true,
        _source: { title: 'Two' },
      })
      expect((await store.client.exists({ index, id: 'a' })).body).to.equal(true)
      expect((await store.client.getSource({ index, id: 'a' })).body).to.deep.equal({ title: 'Two' })
    })

    it('answers 404 for a document that is not there', async () => {
      const answer = await store.request('GET', `/${index}/_doc/none`)
      expect(answer.status).to.equal(404)
      expect(answer.body).to.deep.equal({ _index: index, _id: 'none', found: false })
      expect((await store.request('HEAD', `/${index}/_doc/none`)).status).to.equal(404)
      expect((await store.request('GET', `/${index}/_source/none`)).body.error.type).to.equal('resource_not_found_exception')
    })

    it('says beneath a refusal what is wrong with the value', async () => {
      await store.client.index({ index, id: 'typed', body: { pages: 5, day: '2026-11-30', isNew: true } })
      for (const [name, type, value, causedBy] of [
        ['pages', 'long', 'many', { type: 'illegal_argument_exception', reason: 'For input string: "many"' }],
        [
          'day',
          'date',
          'soon',
          {
            type: 'illegal_argument_exception',
            reason: 'failed to parse date field [soon] with format [strict_date_optional_time||epoch_millis]',
          },
        ],
        [
          'isNew',
          'boolean',
          'perhaps',
          { type: 'illegal_argument_exception', reason: 'Failed to parse value [perhaps] as only [true] or [false] are allowed.' },
        ],
      ] as const) {
        const reason = `failed to parse field [${name}] of type [${type}]. Preview of field's value: '${value}'`
        const cause = { type: 'mapper_parsing_exception', reason }
        const { status, body } = await store.request('PUT', `/${index}/_doc/wrong`, { [name]: value })
        expect([status, body]).to.deep.equal([400, { error: { root_cause: [cause], ...cause, caused_by: causedBy }, status: 400 }])
        const bulk = `{"create":{"_index":"${index}","_id":"wrong"}}\n${JSON.stringify({ [name]: value })}\n`
        const { items } = (await store.request('POST', '/_bulk', bulk, { 'content-type': 'application/x-ndjson' })).body
        expect(items[0].create.error).to.deep.equal({ ...cause, caused_by: causedBy })
      }
    })

    it('_create refuses an id that is taken', async () => {
      const answer = await store.request('PUT', `/${index}/_create/a`, { title: 'Three' })
      expect(answer.status).to.equal(409)
      expect(answer.body.error).to.deep.include({
        type: 'version_conflict_engine_exception',
        reason: '[a]: version conflict, document already exists (current version [2])',
        index,
        shard: '0',
      })
      expect((await store.request('PUT', `/${index}/_doc/a?op_type=create`, {})).status).to.equal(409)
    })

    it('writes on condition of sequence number and primary term', async () => {
      const stale = await store.request('PUT', `/${index}/_doc/a?if_seq_no=0&if_primary_term=1`, { title: 'No' })
      expect(stale.status).to.equal(409)
      expect(stale.body.error.reason).to.equal(
        '[a]: version conflict, required seqNo [0], primary term [1]. current document has seqNo [1] and primary term [1]',
      )
      const fresh = await store.request('PUT', `/${index}/_doc/a?if_seq_no=1&if_primary_term=1`, { title: 'Yes', n: { deep: 1 } })
      expect(fresh.status).to.equal(200)
      expect((await store.request('PUT', `/${index}/_doc/none?if_seq_no=1&if_primary_term=1`, {})).status).to.equal(409)
      expect((await store.request('PUT', `/${index}/_doc/a?if_seq_no=1`, {})).status).to.equal(400)
    })

    it('of concurrent conditional writes exactly one wins', async () => {
      const { _seq_no: seqNo } = (await store.request('GET', `/${index}/_doc/a`)).body
      const statuses = await Promise.all(
        Array.from({ length: 8 }, (_none, at) =>
          store
            .request('PUT', `/${index}/_doc/a?if_seq_no=${seqNo}&if_primary_term=1`, { title: `w${at}`, n: { deep: 1 } })
            .then(each => each.status),
        ),
      )
      expect(statuses.filter(status => status === 200)).to.have.length(1)
      expect(statuses.filter(status => status === 409)).to.have.length(7)
    })

    it('merges partial updates deeply', async () => {
      const { body } = await store.client.update({ index, id: 'a', body: { doc: { title: 'Four', n: { more: [1, 2] } } } })
      expect(body.result).to.equal('updated')
      expect((await store.client.get({ index, id: 'a' })).body._source).to.deep.equal({ title: 'Four', n: { deep: 1, more: [1, 2] } })
    })

    it('an update that changes nothing is a noop', async () => {
      const before = (await store.request('GET', `/${index}/_doc/a`)).body
      const { body } = await store.client.update({ index, id: 'a', body: { doc: { title: 'Four' } } })
      expect(body).to.deep.include({ result: 'noop', _version: before._version, _seq_no: before._seq_no })
      expect(body._shards).to.deep.equal({ total: 0, successful: 0, failed: 0 })
    })

    it('an update that changes nothing is written with `detect_noop: false`, alone and in a bulk', async () => {
      await store.request('PUT', `/${index}/_doc/same`, { title: 'One', tags: { a: 1 } })
      const update = { doc: { title: 'One' }, detect_noop: false }
      const { body } = await store.request('POST', `/${index}/_update/same`, update)
      expect(body).to.include({ result: 'updated', _version: 2 })
      const line = JSON.stringify({ update: { _index: index, _id: 'same' } })
      const bulk = await store.request('POST', '/_bulk', `${line}\n${JSON.stringify(update)}\n`)
      expect(bulk.body.items[0].update).to.include({ result: 'updated', _version: 3, status: 200 })
      expect((await store.request('POST', `/${index}/_update/same`, { ...update, detect_noop: true })).body).to.include({ result: 'noop' })
      expect((await store.request('GET', `/${index}/_doc/same`)).body).to.deep.include({
        _version: 3,
        _source: { title: 'One', tags: { a: 1 } },
      })
      expect((await store.request('POST', `/${index}/_update/same`, { ...update, detect_noop: 'no' })).status).to.equal(400)
    })

    it('keeps 1.0 a fraction, in a new document and in an update', async () => {
      await store.request('PUT', `/${index}/_doc/fractions`, '{"written_ratio":1.0}')
      await store.request('POST', `/${index}/_update/fractions`, '{"doc":{"updated_ratio":2.0}}')
      const { mappings } = (await store.request('GET', `/${index}/_mapping`)).body[index]
      expect(mappings.properties.written_ratio).to.deep.equal({ type: 'float' })
      expect(mappings.properties.updated_ratio).to.deep.equal({ type: 'float' })
    })

    it('an update inserts the upsert where nothing is', async () => {
      const upserted = await store.request('POST', `/${index}/_update/up`, { doc: { title: 'x' }, upsert: { title: 'y', made: true } })
      expect(upserted.status).to.equal(201)
      expect((await store.client.get({ index, id: 'up' })).body._source).to.deep.equal({ title: 'y', made: true })
      await store.request('POST', `/${index}/_update/as`, { doc: { title: 'x' }, doc_as_upsert: true })
      expect((await store.client.get({ index, id: 'as' })).body._source).to.deep.equal({ title: 'x' })
      const missing = await store.request('POST', `/${index}/_update/none`, { doc: {} })
      expect(missing.status).to.equal(404)
      expect(missing.body.error).to.include({ type: 'document_missing_exception', reason: '[none]: document missing' })
      expect((await store.request('POST', `/${index}/_update/a`, { script: 'x' })).body.error.reason).to.contain('[script]')
    })

    if (index === 'books')
      it('keeps digits beyond 2^53 through an update', async () => {
        await store.request('PUT', `/${index}/_doc/big`, '{"big":1234567890123456789,"small":1}')
        await store.request('POST', `/${index}/_update/big`, { doc: { small: 2 } })
        expect((await store.request('GET', `/${index}/_source/big`)).text).to.contain('1234567890123456789')
        expect((await store.request('GET', `/${index}/_source/big?_source_excludes=none`)).text).to.contain('1234567890123456789')
      })

    it('makes ids', async () => {
      const { body, statusCode } = await store.client.index({ index, body: { title: 'auto' } })
      expect(statusCode).to.equal(201)
      expect(body._id).to.have.length(20)
    })

    it('gets many at once', async () => {
      const { body } = await store.client.mget({ index, body: { ids: ['a', 'none'] } })
      expect(body.docs.map(each => 'found' in each && each.found)).to.deep.equal([true, false])
      const mixed = await store.request('POST', '/_mget', {
        docs: [
          { _index: index, _id: 'as', _source: ['title'] },
          { _index: 'nowhere', _id: '1' },
        ],
      })
      expect(mixed.body.docs[0]._source).to.deep.equal({ title: 'x' })
      expect(mixed.body.docs[1].error.type).to.equal('index_not_found_exception')
    })

    it('deletes, once', async () => {
      const { body } = await store.client.delete({ index, id: 'as' })
      expect(body.result).to.equal('deleted')
      const again = await store.request('DELETE', `/${index}/_doc/as`)
      expect(again.status).to.equal(404)
      expect(again.body.result).to.equal('not_found')
      expect((await store.request('DELETE', '/nowhere/_doc/1')).status).to.equal(404)
    })

    it('refuses what is no document', async () => {
      for (const body of ['', '[]', '1', '{"a":', '{"a":1}}', 'null']) {
        const answer = await store.request('PUT', `/${index}/_doc/bad`, body)
        expect(answer.status, body).to.equal(400)
        expect(answer.body.error.type).to.be.a('string')
      }
      expect((await store.request('PUT', `/${index}/_doc/${'x'.repeat(513)}`, {})).status).to.equal(400)
    })

    it('refuses values that do not fit the field, and says why', async () => {
      await store.request('PUT', `/${index}/_doc/n1`, { count: 1 })
      const answer = await store.request('PUT', `/${index}/_doc/n2`, { count: 'many' })
      expect(answer.status).to.equal(400)
      expect(answer.body.error.type).to.equal('mapper_parsing_exception')
      expect(answer.body.error.reason).to.contain('failed to parse field [count] of type [long]')
    })

    it('keeps everything through a restart', async () => {
      const before = (
        await store.request('POST', `/${index}/_search?size=100`, { sort: ['_id'], seq_no_primary_term: true, version: true })
      ).body.hits
      await store.restart()
      const after = (await store.request('POST', `/${index}/_search?size=100`, { sort: ['_id'], seq_no_primary_term: true, version: true }))
        .body.hits
      expect(after).to.deep.equal(before)
      const { body } = await store.client.index({ index, id: 'after', body: {} })
      expect(body._seq_no).to.be.greaterThan(Math.max(...before.hits.map((hit: { _seq_no: number }) => hit._seq_no)))
    })
  })
