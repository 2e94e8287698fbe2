import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { useStubCaller } from '../testing/stub-caller.ts'

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
const header = (text: string) => ({ type: 'header', text: { type: 'plain_text', text } })
const button = { type: 'button', text: { type: 'plain_text', text: 'Open' }, url: 'http://127.0.0.1/a' }

describe('the stub of a Slack webhook', () => {
  const at = useStubCaller()
  afterEach(() => {
    at.clock.advance(60_000)
    return at.call('slack', 'DELETE /_stub/state')
  })
  const post = (body: unknown, channel = 'incidents') => at.call('slack', `POST /services/T0DEMO/B0DEMO/${channel}`, body)

  it('answers ok', async () => {
    const { status, body, headers } = await post({
      text: 'hello',
      blocks: [header('Hi'), section('*bold*'), { type: 'actions', elements: [button] }],
    })
    expect([status, body, headers.get('content-type')]).to.deep.equal([200, 'ok', 'text/plain; charset=utf-8'])
    const [message] = at.stubs.state('slack')['messages'] as readonly { channel: string; readable: string }[]
    expect(message).to.include({ channel: 'incidents', readable: 'hello\nHi\n*bold*\nOpen' })
  })

  for (const { name, body, error } of [
    { name: 'no JSON', body: 'hello', error: 'invalid_payload' },
    { name: 'nothing to say', body: {}, error: 'no_text' },
    { name: '51 blocks', body: { text: 'a', blocks: Array.from({ length: 51 }, () => section('a')) }, error: 'invalid_blocks' },
    { name: 'blocks that are no list', body: { text: 'a', blocks: {} }, error: 'invalid_blocks_format' },
    { name: 'an unknown block', body: { text: 'a', blocks: [{ type: 'marquee' }] }, error: 'invalid_blocks' },
    { name: 'a header of 151 characters', body: { text: 'a', blocks: [header('x'.repeat(151))] }, error: 'invalid_blocks' },
    { name: 'an empty section', body: { text: 'a', blocks: [section('')] }, error: 'invalid_blocks' },
    { name: 'a section of 3,001 characters', body: { text: 'a', blocks: [section('x'.repeat(3_001))] }, error: 'invalid_blocks' },
    {
      name: '11 fields',
      body: { text: 'a', blocks: [{ type: 'section', fields: Array.from({ length: 11 }, () => ({ type: 'mrkdwn', text: 'a' })) }] },
      error: 'invalid_blocks',
    },
    {
      name: '26 buttons',
      body: { text: 'a', blocks: [{ type: 'actions', elements: Array.from({ length: 26 }, () => button) }] },
      error: 'invalid_blocks',
    },
    {
      name: '11 elements of a context',
      body: { text: 'a', blocks: [{ type: 'context', elements: Array.from({ length: 11 }, () => ({ type: 'mrkdwn', text: 'a' })) }] },
      error: 'invalid_blocks',
    },
    {
      name: 'more than 13,000 characters',
      body: { text: 'a', blocks: Array.from({ length: 5 }, () => section('x'.repeat(2_900))) },
      error: 'msg_blocks_too_long',
    },
  ])
    it(`refuses ${name}: ${error}`, async () => {
      const answer = await post(body)
      expect([answer.status, answer.body]).to.deep.equal([400, error])
    })

  it('takes a message a second and short bursts, each channel for itself; then 429 with Retry-After', async () => {
    const statuses = []
    for (let sent = 0; sent < 7; sent++) statuses.push((await post({ text: 'a' }, 'busy')).status)
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429, 429])
    const refused = await post({ text: 'a' }, 'busy')
    expect([refused.headers.get('retry-after'), refused.body]).to.deep.equal(['1', 'rate_limited'])
    expect((await post({ text: 'a' }, 'quiet')).status).to.equal(200)
    at.clock.advance(1_000)
    expect((await post({ text: 'a' }, 'busy')).status).to.equal(200)
    expect(at.stubs.state('slack')['limited']).to.equal(3)
  })

  it('knows only its own webhooks', async () => {
    expect((await at.call('slack', 'POST /services/T1/B1/x', { text: 'a' })).body).to.equal('channel_not_found')
  })

  it('notices mentions', async () => {
    await post({ text: 'a <!channel> and <@U1|kim>, not &lt;!here&gt;' })
    const [message] = at.stubs.state('slack')['messages'] as readonly { mentions: readonly string[] }[]
    expect(message!.mentions).to.deep.equal(['!channel', '@U1'])
  })
})
