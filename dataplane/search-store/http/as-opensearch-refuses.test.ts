/** Requests that OpenSearch 3.5 was seen to refuse, and its types of error. Where it answers 500 to what is the caller's mistake, the store answers 400. */
import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { startTestStore } from '../testing/test-store.ts'
import { useTestStore } from '../testing/use-test-store.ts'

describe('a request that OpenSearch refuses', () => {
  const store = useTestStore()

  const ask = (method: string, path: string, body?: unknown) => store.request(method, path, body)
  const refusal = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await ask(method, path, body)
    return `${status} ${answer.error?.type}: ${answer.error?.reason}`
  }

  it('changes the mapping of none of its indices where it fits one of them not', async () => {
    await ask('PUT', '/m-1', { mappings: { properties: { n: { type: 'long' } } } })
    await ask('PUT', '/m-2', { mappings: { properties: { n: { type: 'keyword' } } } })
    await ask('PUT', '/m-3', { settings: { 'index.mapping.total_fields.limit': 1 }, mappings: { properties: { n: { type: 'long' } } } })
    const before = (await ask('GET', '/m-*/_mapping')).body
    for (const path of ['/m-1,m-2', '/m-*', '/m-2,m-1']) {
      expect(await refusal('PUT', `${path}/_mapping`, { properties: { a: { type: 'long' }, n: { type: 'long' } } })).to.match(
        /^400 illegal_argument_exception: mapper \[n\] cannot be changed/,
      )
      expect((await ask('GET', '/m-*/_mapping')).body).to.deep.equal(before)
    }
    expect(await refusal('PUT', '/m-1,m-3/_mapping', { properties: { a: { type: 'long' } } })).to.match(/Limit of total fields \[1\]/)
    expect((await ask('GET', '/m-*/_mapping')).body).to.deep.equal(before)
    expect((await ask('PUT', '/m-1,m-2/_mapping', { properties: { a: { type: 'long' } } })).status).to.equal(200)
    const { body } = await ask('GET', '/m-1,m-2/_mapping')
    for (const name of ['m-1', 'm-2']) expect(body[name].mappings.properties.a).to.deep.equal({ type: 'long' })
  })

  it('changes no mapping without a body', async () => {
    await ask('PUT', '/bare')
    expect(await refusal('PUT', '/bare/_mapping')).to.equal('400 parse_exception: request body is required')
    expect((await ask('PUT', '/bare/_mapping', {})).status).to.equal(200)
  })

  it('puts no field below one that is no object', async () => {
    await ask('PUT', '/below', { mappings: { properties: { a: { type: 'long' } } } })
    expect(await refusal('PUT', '/below/_mapping', { properties: { 'a.x': { type: 'keyword' } } })).to.equal(
      "400 illegal_argument_exception: can't merge a non object mapping [a] with an object mapping",
    )
    expect((await ask('GET', '/below/_mapping')).body.below.mappings.properties).to.deep.equal({ a: { type: 'long' } })
  })

  it('has two index templates of the same priority that may fit the same name', async () => {
    expect((await ask('PUT', '/_index_template/a', { index_patterns: ['x-*'], priority: 5 })).status).to.equal(200)
    for (const pattern of ['x-1*', '*', 'x*9', '*-x'])
      expect(await refusal('PUT', '/_index_template/b', { index_patterns: ['y', pattern], priority: 5 })).to.equal(
        `400 illegal_argument_exception: index template [b] has index patterns [y, ${pattern}] matching patterns from existing templates [a] with patterns ` +
          '(a => [x-*]) that have the same priority [5], multiple index templates may not match during index creation, please use a different priority',
      )
    for (const [path, body] of [
      ['/_index_template/b', { index_patterns: ['x-1*'], priority: 6 }],
      ['/_index_template/c', { index_patterns: ['y-*'], priority: 5 }],
      ['/_index_template/d', { index_patterns: ['x-*'] }],
      ['/_index_template/a', { index_patterns: ['x-*'], priority: 5, version: 2 }],
    ] as const)
      expect((await ask('PUT', path, body)).status, path).to.equal(200)
    expect(await refusal('PUT', '/_index_template/e', { index_patterns: ['x-*'], priority: 0 })).to.match(/templates \[d\]/)
    expect(await refusal('POST', '/_index_template/_simulate', { index_patterns: ['x-*'], priority: 5 })).to.match(/templates \[a\]/)
  })

  for (const [pattern, problem] of [
    ['a b', 'must not contain a space'],
    ['_a', "must not start with '_'"],
    ['a,b', 'must not contain the following characters'],
    ['a:b', "must not contain a ':'"],
    ['a#b', "must not contain a '#'"],
    ['a?', 'must not contain the following characters'],
  ] as const)
    it(`has a template for names that no index has: ${pattern}`, async () => {
      for (const path of ['/_index_template/p', '/_template/p']) {
        const answer = await refusal('PUT', path, { index_patterns: [pattern] })
        expect(answer).to.match(/^400 invalid_index_template_exception: index_template \[p\] invalid, cause \[Validation Failed: 1: /)
        expect(answer).to.contain(problem)
      }
    })

  describe('gives an alias a second index to write to', () => {
    const more = /^400 illegal_state_exception: alias \[w\] has more than one write index \[/
    before(async () => {
      await ask('PUT', '/w-1', { aliases: { w: { is_write_index: true } } })
      await ask('PUT', '/w-2', { aliases: { w: {} } })
    })

    it('with a new index, also one that a document makes', async () => {
      expect(await refusal('PUT', '/w-3', { aliases: { w: { is_write_index: true } } })).to.match(more)
      await ask('PUT', '/_index_template/w', { index_patterns: ['wt-*'], template: { aliases: { w: { is_write_index: true } } } })
      expect(await refusal('PUT', '/wt-1/_doc/1', { a: 1 })).to.match(more)
      expect((await ask('HEAD', '/wt-1')).status).to.equal(404)
      expect((await ask('HEAD', '/w-3')).status).to.equal(404)
    })

    it('with changes of aliases, of which none is made', async () => {
      const add = (index: string, alias: string, isWritten: boolean) => ({ add: { index, alias, is_write_index: isWritten } })
      expect(await refusal('PUT', '/w-2/_alias/w', { is_write_index: true })).to.match(more)
      expect(await refusal('POST', '/_aliases', { actions: [{ add: { index: 'w-2', alias: 'other' } }, add('w-2', 'w', true)] })).to.match(
        more,
      )
      expect(await refusal('PUT', '/w-*/_alias/v', { is_write_index: true })).to.match(/alias \[v\] has more than one/)
      const { body } = await ask('GET', '/w-*/_alias')
      expect(body).to.deep.equal({ 'w-1': { aliases: { w: { is_write_index: true } } }, 'w-2': { aliases: { w: {} } } })
    })

    it('but not where the first one is no more in the end, whatever the order', async () => {
      const add = (index: string, isWritten: boolean) => ({ add: { index, alias: 'w', is_write_index: isWritten } })
      for (const actions of [
        [add('w-2', true), add('w-1', false)],
        [add('w-2', false), add('w-1', true)],
        [add('w-2', true), { remove: { index: 'w-1', alias: 'w' } }],
        [add('w-1', true), { remove_index: { index: 'w-2' } }],
      ])
        expect((await ask('POST', '/_aliases', { actions })).status, JSON.stringify(actions)).to.equal(200)
    })
  })

  it('has a name twice in its body', async () => {
    for (const [path, body] of [
      ['/m-1/_search', '{"size":1,"size":2}'],
      ['/m-1/_search', '{"query":{"term":{"n":1,"n":2}}}'],
      ['/m-1/_count', '{"query":{"match_all":{}},"query":{"match_all":{}}}'],
      ['/_aliases', '{"actions":[{"add":{"index":"m-1","index":"m-2","alias":"b"}}]}'],
    ] as const)
      expect(await refusal('POST', path, body)).to.match(/^400 json_parse_exception: Duplicate field '\w+'/)
    const { body } = await ask('POST', '/_msearch', '{"index":"m-1"}\n{"size":1,"size":2}\n{"index":"m-1"}\n{"size":0}\n')
    expect(body.responses[0].error.type).to.equal('json_parse_exception')
    expect(body.responses[1].status).to.equal(200)
  })

  for (const index of ['dup-small', 'service-logs-dup'])
    it(`has a name twice in a document, at any depth (${index})`, async () => {
      const twice = ['{"k":"a","k":"b"}', '{"o":{"x":1,"x":1}}', '{"o":[{"x":1},{"y":[[{"x":1,"x":2}]]}]}', '{"a\\u0062":1,"ab":2}']
      for (const [k, body] of twice.entries()) {
        const answer = await ask(k % 2 === 0 ? 'PUT' : 'POST', `/${index}/${k % 2 === 0 ? '_doc' : '_create'}/${k}`, body)
        expect([answer.status, answer.body.error?.type, answer.body.error?.caused_by?.type], body).to.deep.equal([
          400,
          'mapper_parsing_exception',
          'json_parse_exception',
        ])
      }
      const lines = twice.map((body, k) => `{"index":{"_id":"${k}"}}\n${body}\n`).join('')
      const bulk = await ask('POST', `/${index}/_bulk`, `${lines}{"create":{"_id":"fine"}}\n{"k":"a","o":[{"x":1},{"x":1}]}\n`)
      expect(bulk.body.items.map((item: Record<string, { status: number }>) => Object.values(item)[0]!.status)).to.deep.equal([
        ...[400, 400, 400, 400, 201],
      ])
      expect(bulk.body.items[0].index.error).to.deep.equal({
        type: 'mapper_parsing_exception',
        reason: 'failed to parse',
        caused_by: { type: 'json_parse_exception', reason: "Duplicate field 'k'" },
      })
      expect(await refusal('POST', `/${index}/_update/fine`, '{"doc":{"o":{"x":1,"x":2}}}')).to.match(
        /^400 x_content_parse_exception: \[UpdateRequest\] failed to parse field \[doc\]/,
      )
      expect(await refusal('POST', `/${index}/_update/fine`, '{"doc":{"k":1},"doc":{"k":2}}')).to.match(/^400 json_parse_exception/)
      expect(await refusal('POST', `/${index}/_bulk`, '{"index":{"_id":"1","_id":"2"}}\n{}\n')).to.match(/^400 json_parse_exception/)
      expect((await ask('GET', `/${index}/_count`)).body.count).to.equal(1)
    })

  for (const [what, method, path, body, expected] of [
    ['an unknown state of health', 'GET', '/_cluster/health?wait_for_status=nosuch', undefined, /^400 illegal_argument_exception/],
    ['an unknown highlighter', 'POST', '/m-1/_search', { highlight: { fields: { t: { type: 'nosuch' } } } }, /^400 search_phase_execution/],
    ['values of a text', 'POST', '/texts/_search', { docvalue_fields: ['t'] }, /^400 search_phase_execution_exception/],
    ['a window that is too large', 'POST', '/m-1/_search', { size: 10_001 }, /^400 search_phase_execution_exception: all shards failed/],
    ['more values than sorts', 'POST', '/m-1/_search', { sort: ['n'], search_after: [1, 2] }, /^400 search_phase_execution_exception/],
    ['several searches, and has none', 'POST', '/_msearch', '', /^400 parse_exception: request body or source parameter is required/],
    [
      'an unknown member of a header',
      'POST',
      '/_msearch',
      '{"nosuch":"m-1"}\n{}\n',
      /^400 illegal_argument_exception: key \[nosuch\] is not/,
    ],
    [
      'a parameter in a header',
      'POST',
      '/_msearch',
      '{"size":"0"}\n{}\n',
      /^400 illegal_argument_exception: key \[size\] is not supported in/,
    ],
    ['an index without a name', 'GET', '/%3C%3E/_search', undefined, /^400 parse_exception: nothing captured/],
    ['no document', 'PUT', '/m-1/_doc/1', undefined, /^400 parse_exception: request body is required/],
    ['no update', 'POST', '/m-1/_update/1', undefined, /^400 action_request_validation_exception: .*script or doc is missing/],
  ] as const)
    it(`asks for ${what}`, async () => {
      await ask('PUT', '/texts', { mappings: { properties: { t: { type: 'text' } } } })
      expect(await refusal(method, path, body)).to.match(expected)
    })

  it('is no search with both spellings of its header, and with names that math tells', async () => {
    await ask('PUT', '/%3Cdated-%7B2026.11.21%7C%7C%2Fd%7D%3E')
    await ask('PUT', '/%3Cdated-%7B202611%7C%7C%2FM%7ByyyyMM%7D%7D%3E')
    expect(Object.keys((await ask('GET', '/dated-*')).body)).to.have.members(['dated-2026.11.21', 'dated-202611'])
    const { body } = await ask(
      'POST',
      '/_msearch?max_concurrent_searches=2',
      '{"indices":["dated-*"],"ignoreUnavailable":true}\n{"size":0}\n',
    )
    expect([body.responses[0].status, body.responses[0]._shards.total]).to.deep.equal([200, 2])
    expect((await ask('POST', '/m-1/_search', { explain: false, profile: false })).status).to.equal(200)
    expect((await ask('POST', '/m-1/_search', { explain: true })).status).to.equal(400)
  })

  it('names a setting that nobody knows, or none', async () => {
    expect(await refusal('PUT', '/s-1', { settings: { nosuch: 1 } })).to.match(/^400 settings_exception: unknown setting \[index.nosuch\]/)
    expect(await refusal('PUT', '/m-1/_settings', {})).to.match(/^400 action_request_validation_exception: .*no settings to update/)
    expect((await ask('PUT', '/m-1/_settings', { 'index.refresh_interval': null })).status).to.equal(200)
  })

  it('has a whole number beyond its type, by its digits', async () => {
    await ask('PUT', '/service-logs-numbers', { mappings: { properties: { l: { type: 'long' }, u: { type: 'unsigned_long' } } } })
    await ask('PUT', '/numbers', { mappings: { properties: { l: { type: 'long' }, u: { type: 'unsigned_long' } } } })
    for (const index of ['service-logs-numbers', 'numbers']) {
      for (const [field, good, bad] of [
        ['l', '9223372036854775807', '9223372036854775808'],
        ['l', '-9223372036854775808', '-9223372036854775809'],
        ['l', '"9223372036854775807"', '"9223372036854775808"'],
        ['u', '18446744073709551615', '18446744073709551616'],
      ] as const) {
        expect(await refusal('PUT', `/${index}/_doc/1`, `{"${field}":${bad}}`), bad).to.match(/^400 mapper_parsing_exception/)
        expect((await ask('PUT', `/${index}/_doc/1`, `{"${field}":${good}}`)).status, good).to.be.below(300)
      }
    }
  })

  it('waits for the health of an index that is not there: red, and too late', async () => {
    for (const path of ['none', 'none,m-1', 'none?ignore_unavailable=true', 'none?wait_for_status=red']) {
      const { status, body } = await ask('GET', `/_cluster/health/${path}`)
      expect([status, body.status, body.timed_out, body.active_shards], path).to.deep.equal([
        408,
        'red',
        true,
        path.includes('m-1') ? 1 : 0,
      ])
    }
    const { status, body } = await ask('GET', '/_cluster/health/none-*')
    expect([status, body.status]).to.deep.equal([200, 'green'])
  })
})

describe('a mapping', () => {
  it('is shown with `dynamic` as text, however it was given', async () => {
    const store = await startTestStore()
    const properties = { p: { dynamic: true, properties: {} }, q: { properties: { x: { type: 'object', dynamic: false } } } }
    await store.request('PUT', '/d', { mappings: { dynamic: false, properties } })
    expect((await store.request('GET', '/d/_mapping')).body.d.mappings).to.deep.equal({
      dynamic: 'false',
      properties: { p: { type: 'object', dynamic: 'true' }, q: { properties: { x: { type: 'object', dynamic: 'false' } } } },
    })
    await store.stop()
  })
})
