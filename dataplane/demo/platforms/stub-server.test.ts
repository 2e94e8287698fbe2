import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import type { FaultInput } from './faults.ts'
import { MAX_KEPT } from './newest.ts'
import { STUB_NAMES } from './start.ts'
import { type StubReply, useStubCaller } from './testing/stub-caller.ts'

/** One request that changes something, for each platform. */
const CHANGE = { request: 'POST /services/T0DEMO/B0DEMO/faults', body: { text: 'hello' } }

describe('faults of the stubs', () => {
  const at = useStubCaller()
  afterEach(() => {
    at.clock.advance(60_000)
    return at.call('slack', 'DELETE /_stub/state')
  })
  const post = (): Promise<StubReply | 'reset'> => at.call('slack', CHANGE.request, CHANGE.body).catch(() => 'reset' as const)
  const answers = async (count: number) => {
    const seen = []
    for (let sent = 0; sent < count; sent++) {
      const answer = await post()
      seen.push(answer === 'reset' ? answer : `${answer.status} ${answer.body}`)
    }
    return seen
  }
  const arrived = () => (at.stubs.state('slack')['messages'] as readonly unknown[]).length

  it('queued by POST /_stub/faults are met in their order, so many times, then all is well', async () => {
    const queue = (fault: FaultInput) => at.call('slack', 'POST /_stub/faults', fault)
    expect((await queue({ kind: 'status', status: 500, times: 2 })).status).to.equal(201)
    await queue({ kind: 'limit', perSecond: 1, burst: 4 })
    await queue({ kind: 'status', status: 400, text: 'invalid_blocks' })
    expect(await answers(4)).to.deep.equal(['500 rollup_error', '500 rollup_error', '400 invalid_blocks', '200 ok'])
    expect(arrived()).to.equal(1)
  })

  for (const [retryAfter, expected] of [
    ['seconds', /^7$/],
    ['date', /^\w{3}, \d\d \w{3} 2026 \d\d:\d\d:\d\d GMT$/],
    ['absent', /^null$/],
  ] as const)
    it(`429 with Retry-After ${retryAfter}`, async () => {
      at.stubs.fault('slack', { kind: 'rate-limit', retryAfter, seconds: 7 })
      const answer = (await post()) as StubReply
      expect(answer.status).to.equal(429)
      expect(String(answer.headers.get('retry-after'))).to.match(expected)
    })

  it('a reset before and after the request was accepted', async () => {
    at.stubs.fault('slack', { kind: 'reset' })
    expect([await answers(1), arrived()]).to.deep.equal([['reset'], 0])
    at.stubs.fault('slack', { kind: 'reset', afterAccepting: true })
    expect([await answers(1), arrived()]).to.deep.equal([['reset'], 1])
  })

  it('a stall answers late', async () => {
    at.stubs.fault('slack', { kind: 'stall', ms: 30_000 })
    const answer = post()
    while (at.clock.sleepers === 0) await new Promise(setImmediate)
    at.clock.advance(30_000)
    expect(((await answer) as StubReply).body).to.equal('ok')
  })

  it('are kept for the route that they name', async () => {
    at.stubs.fault('jira', { kind: 'status', status: 503, on: 'GET /rest/api/3/issue/:key/transitions' })
    expect((await at.call('jira', 'GET /rest/api/3/myself')).status).to.equal(200)
    expect((await at.call('jira', 'GET /rest/api/3/issue/OPS-1/transitions')).status).to.equal(503)
    expect((await at.call('jira', 'GET /rest/api/3/issue/OPS-1/transitions')).status).to.equal(404)
  })

  it('that are none are refused with the reason', async () => {
    const refused = await at.call('slack', 'POST /_stub/faults', { kind: 'own', name: 'search-lag', value: 1 })
    expect([refused.status, refused.body.error]).to.deep.equal([400, 'name: expected one of (none), seen search-lag'])
    expect((await at.call('slack', 'POST /_stub/faults', { kind: 'explode' })).status).to.equal(400)
  })

  it('another limit of requests', async () => {
    at.stubs.fault('slack', { kind: 'limit', perSecond: 100, burst: 1_000 })
    expect(new Set(await answers(20))).to.deep.equal(new Set(['200 ok']))
  })
})

describe('pages of the stubs', () => {
  const at = useStubCaller()

  for (const name of STUB_NAMES)
    it(`${name}: a page without scripts and addresses elsewhere, which links to all others`, async () => {
      const { status, headers, body } = await at.call(name, 'GET /')
      expect(status).to.equal(200)
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'")
      expect(body).not.to.match(/<script|src=/)
      for (const other of STUB_NAMES) expect(body).to.contain(`href="${at.stubs.addresses[other]}/"`)
    })

  it('escape what arrived', async () => {
    const evil = '<script>alert(1)</script>"\'&'
    await at.call('pagerduty', 'POST /v2/enqueue', {
      routing_key: 'demo0shop0000000000000000000000k',
      event_action: 'trigger',
      payload: { summary: evil, source: evil, severity: 'info', custom_details: { [evil]: evil } },
      links: [{ href: 'javascript:alert(1)', text: 'click' }],
    })
    const text = (text: string) => ({
      type: 'doc',
      version: 1,
      content: [
        { type: 'paragraph', content: [{ type: 'text', text, marks: [{ type: 'link', attrs: { href: 'javascript:alert(1)' } }] }] },
      ],
    })
    await at.call('jira', 'POST /rest/api/3/issue', {
      fields: {
        project: { key: 'OPS' },
        issuetype: { name: 'Task' },
        summary: evil,
        description: text(evil),
        labels: [evil.replace(/\s/g, '')],
      },
    })
    await at.call('servicenow', 'POST /api/now/table/incident', { short_description: evil, description: evil, work_notes: evil })
    await at.call('opsgenie', 'POST /v2/alerts', { message: evil, alias: evil, description: evil, tags: [evil], details: { [evil]: evil } })
    at.clock.advance(1_000)
    await at.call('slack', 'POST /services/T0DEMO/B0DEMO/x', {
      text: evil,
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `*${evil}* \`${evil}\` <javascript:alert(1)|click>` } }],
    })
    for (const name of STUB_NAMES) {
      const { body } = await at.call(name, 'GET /')
      expect(body, name).not.to.match(/<script|href="javascript/)
      if (!['index', 'email'].includes(name)) expect(body, name).to.contain('&lt;script&gt;')
    }
  })

  it('hold the newest 1,000', async () => {
    at.stubs.fault('slack', { kind: 'limit', perSecond: 1e6, burst: 1e6 })
    for (let sent = 0; sent < MAX_KEPT + 5; sent++) await at.call('slack', 'POST /services/T0DEMO/B0DEMO/many', { text: `message ${sent}` })
    const messages = at.stubs.state('slack')['messages'] as readonly { text: string }[]
    expect([messages.length, messages[0]!.text, messages.at(-1)!.text]).to.deep.equal([MAX_KEPT, `message ${MAX_KEPT + 4}`, 'message 5'])
  })
})
