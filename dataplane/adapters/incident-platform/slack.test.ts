import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import { at } from './json-at.ts'
import { messageOf, slack } from './slack.ts'
import { buildRequest, ESCALATION, HOSTILE_INCIDENT } from './testing/checkout-incident.ts'
import { resetAfterSending } from './testing/scripted-outbound.ts'
import { sendScripted, testScripted } from './testing/send-scripted.ts'

const OK = { status: 200, body: 'ok' }
const COLOUR = ['attachments', 0, 'color'] as const

describe('Slack', () => {
  it('posts a message with text, blocks and the colour of the severity', async () => {
    const { outcome, outbound, body } = await sendScripted(slack, buildRequest('slack'), OK)
    expect(outbound.calls).to.deep.equal(['POST https://hooks.slack.example.com/services/T000000001/B000000002/slack-secret-token'])
    expect(body(0)).to.have.property('text').that.includes('checkout: Payment declined')
    expect(at(body(0), ...COLOUR)).to.equal('#b3261e')
    expect(outcome).to.include({ kind: 'delivered' })
  })

  it('shows a resolved incident in green', () =>
    expect(at(messageOf(buildRequest('slack', { event: 'resolve' })), ...COLOUR)).to.equal('#1e8e3e'))

  it('shows an event in the colour of its own, though the incident is resolved by the time that it is told', () => {
    const moodOf = (event: TicketEvent) => {
      const message = messageOf(buildRequest('slack', { event, content: { status: 'resolved' } }))
      return [at(message, ...COLOUR), /:(white_check_mark|red_circle):/.exec(message.text)?.[1]]
    }
    for (const event of ['open', 'update', 'acknowledge', 'escalate', 'reopen'] as const)
      expect(moodOf(event), event).to.deep.equal(['#b3261e', 'red_circle'])
    expect(moodOf('comment'), 'words on a resolved incident').to.deep.equal(['#1e8e3e', 'white_check_mark'])
  })

  it('makes no mentions, links or fences of log text', () => {
    const text = JSON.stringify(messageOf(buildRequest('slack', { content: HOSTILE_INCIDENT })))
    expect(text).to.not.match(/<[!@#]|<http/)
    expect(text).to.include('&lt;!channel&gt;')
    const fences = text.match(/```/g) ?? []
    expect(fences.length % 2).to.equal(0)
  })

  it('leaves log text as it is: no part of it turns bold, italic, struck out or code', () => {
    const told = 'invoke <*> because <*> is null, ~old~ `x` and _y_ of __init__, not of user_id'
    const { blocks, text } = messageOf(buildRequest('slack', { content: { title: told, sentence: told } }))
    const shown = "invoke &lt;∗&gt; because &lt;∗&gt; is null, ∼old∼ 'x' and ˍyˍ of ˍˍinitˍˍ, not of user_id"
    expect(at(blocks[1], 'text', 'text')).to.equal(`*Critical.* ${shown}`)
    expect(text).to.equal(`:red_circle: ${shown} – *Critical.* ${shown}`)
  })

  it('escapes a text once, in its head too', () => {
    const { text, blocks, attachments } = messageOf(buildRequest('slack', { content: { title: 'a < b & c', nextAction: 'keep d < e' } }))
    expect(at(blocks[0], 'text', 'text')).to.match(/ a &lt; b &amp; c$/)
    expect(JSON.stringify(attachments)).to.include('keep d &lt; e')
    expect(JSON.stringify({ text, blocks, attachments })).to.not.include('&amp;lt;')
  })

  it('calls people only for an escalation, and for an opening where that is configured', () => {
    const textOf = (event: 'open' | 'escalate' | 'resolve', fields = {}) => messageOf(buildRequest('slack', { event, fields })).text
    expect(textOf('escalate')).to.match(/^<!channel> /)
    expect(textOf('escalate', { escalationMention: '<!subteam^S012>' })).to.match(/^<!subteam\^S012> /)
    expect(textOf('open')).to.not.include('<!')
    expect(textOf('open', { mention: '@here' })).to.match(/^<!here> /)
    expect(textOf('resolve', { mention: '@here' })).to.not.include('<!')
    const escalatedTo = messageOf(buildRequest('slack', { content: { change: ESCALATION }, fields: { mention: '@here' } }))
    expect(escalatedTo.text).to.match(/^<!here> /)
    const named = { mention: '@here', escalationMention: '<!subteam^S012>' }
    expect(messageOf(buildRequest('slack', { content: { change: ESCALATION }, fields: named })).text).to.match(/^<!subteam\^S012> /)
    expect(messageOf(buildRequest('slack', { content: { change: ESCALATION } })).text).to.match(/^<!channel> /)
  })

  it('keeps to 50 blocks, 3,000 characters of a section and 10,000 in all', () => {
    const message = '<日>'.repeat(400)
    const samples = Array.from({ length: 9 }, (_, n) => ({ timestamp: '', level: 'ERROR', service: 'a', message, logId: `l${n}` }))
    const evidence = Array.from({ length: 60 }, () => ({ pattern: message, count: 1, samples }))
    for (const nextAction of ['x', '&'.repeat(2_999), '🚲'.repeat(40_000)]) {
      const { text, blocks, attachments } = messageOf(buildRequest('slack', { content: { title: message, nextAction, evidence } }))
      const all = [...blocks, ...attachments.flatMap(each => each.blocks)]
      expect(all).to.have.length.at.most(50)
      expect([...JSON.stringify(all)]).to.have.length.at.most(10_500)
      for (const block of all) expect([...String(at(block, 'text', 'text') ?? '')]).to.have.length.at.most(3_000)
      expect([...String(at(blocks[0], 'text', 'text'))]).to.have.length.at.most(150)
      expect(JSON.stringify(all)).to.not.match(/&[a-z]{0,3}…/)
      expect(text).to.not.equal('')
    }
  })

  it('never tells the address of the webhook', async () => {
    const body = 'no_service https://hooks.slack.example.com/services/T000000001/B000000002/slack-secret-token slack-secret-token'
    const { outcome } = await sendScripted(slack, buildRequest('slack'), { status: 404, body })
    expect(JSON.stringify(outcome)).to.not.match(/secret|T000000001/)
    expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true })
  })

  it('never tells a part of it where the words of a platform are cut', async () => {
    const body = `${'x'.repeat(286)} slack-secret-token`
    const { outcome } = await sendScripted(slack, buildRequest('slack'), { status: 410, body })
    expect(JSON.stringify(outcome)).to.not.include('slack-s')
  })

  it('goes as plain text where Slack refuses its blocks', async () => {
    const { outcome, body } = await sendScripted(slack, buildRequest('slack'), { status: 400, body: 'invalid_blocks' }, OK)
    expect(outcome).to.include({ kind: 'delivered', note: 'sent as plain text, since Slack refused its blocks: invalid_blocks' })
    expect(body(1)).to.have.all.keys('text')
    const text = String(at(body(1), 'text'))
    expect(text).to.include('checkout: Payment declined: upstream &lt;∗&gt; timed out')
    expect(text).to.include('Most likely payment: “Connection pool exhausted')
    expect(text).to.include('03:01:58.020 FATAL payment Connection pool exhausted: 50 of 50 in use')
    expect(text).to.include('<https://logs.example.com/incidents/7c1f9a52-64d0-5c1e-9b7e-0f6f2c3d4e5f|Open the incident>')
    expect([...text]).to.have.length.at.most(4_000)
    const hostile = buildRequest('slack', { content: { title: '<!channel> '.repeat(2_000), nextAction: '<!here>'.repeat(2_000) } })
    const again = await sendScripted(slack, hostile, { status: 400, body: 'msg_blocks_too_long' }, OK)
    expect([...String(at(again.body(1), 'text'))]).to.have.length.at.most(4_000)
    expect(String(at(again.body(1), 'text'))).to.not.match(/<!|&[a-z]{0,3}…/)
  })

  const DEAD = { kind: 'rejected', isTargetBroken: true, untilChanged: true }
  const refusals = [
    { status: 400, body: 'invalid_payload', expected: { kind: 'rejected' } },
    { status: 400, body: 'no_service', expected: DEAD },
    { status: 403, body: 'action_prohibited', expected: DEAD },
    { status: 404, body: 'channel_not_found', expected: DEAD },
    { status: 410, body: 'channel_is_archived', expected: DEAD },
    { status: 429, body: 'rate_limited', headers: { 'retry-after': '3' }, expected: { kind: 'retryable', afterMs: 3_000 } },
    { status: 500, body: 'rollup_error', expected: { kind: 'retryable', isAmbiguous: true, isTargetDown: true } },
    { status: 200, body: '<html><body>Hello</body></html>', expected: { kind: 'retryable', isAmbiguous: true, isTargetDown: true } },
  ]
  for (const { expected, ...answer } of refusals)
    it(`${answer.status} ${answer.body}: ${JSON.stringify(expected)}`, async () => {
      const { reason: _, ...outcome } = (await sendScripted(slack, buildRequest('slack'), answer)).outcome as { reason: string }
      expect(outcome).to.deep.equal(expected)
    })

  it('says on a second attempt that the message may be there twice', async () => {
    const { outcome } = await sendScripted(slack, buildRequest('slack'), resetAfterSending())
    expect(outcome).to.include({ isAmbiguous: true })
    expect(JSON.stringify(messageOf(buildRequest('slack', { mayBeThere: true })))).to.include('you may see it twice')
  })

  it('is tested by a message that people see', async () => {
    const { result } = await testScripted(slack, buildRequest('slack'), OK)
    expect(result).to.deep.equal({ ok: true, message: 'Slack took a test message' })
  })
})
