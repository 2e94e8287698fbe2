import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { DEMO } from './settings.ts'
import { useStubCaller } from './testing/stub-caller.ts'

const KEY = DEMO.pagerduty.Shop
const payload = { summary: 'checkout is down', source: 'checkout', severity: 'critical' }
const trigger = (dedup_key: string, more: object = {}) => ({ routing_key: KEY, event_action: 'trigger', dedup_key, payload, ...more })

describe('the stub of PagerDuty', () => {
  const at = useStubCaller()
  afterEach(() => at.call('pagerduty', 'DELETE /_stub/state'))
  const send = (event: unknown) => at.call('pagerduty', 'POST /v2/enqueue', event)
  const incidents = () => at.stubs.state('pagerduty')['incidents'] as readonly { status: string; log: readonly { action: string }[] }[]
  const told = () => incidents().map(({ status, log }) => `${status}: ${log.map(({ action }) => action).join(' ')}`)

  it('opens, acknowledges, resolves; a trigger on an open key adds to it, one after resolve opens a new incident', async () => {
    expect((await send(trigger('a'))).body).to.deep.equal({ status: 'success', message: 'Event processed', dedup_key: 'a' })
    await send(trigger('a', { payload: { ...payload, severity: 'info' } }))
    await send({ routing_key: KEY, event_action: 'acknowledge', dedup_key: 'a' })
    expect(told()).to.deep.equal(['acknowledged: trigger trigger acknowledge'])
    await send({ routing_key: KEY, event_action: 'resolve', dedup_key: 'a' })
    await send(trigger('a'))
    expect(told()).to.deep.equal(['triggered: trigger', 'resolved: trigger trigger acknowledge resolve'])
  })

  it('drops with 202 what is for an unknown or resolved key, or comes with another routing key', async () => {
    await send(trigger('a'))
    for (const [routing_key, dedup_key] of [
      [KEY, 'unknown'],
      [DEMO.pagerduty.Platform, 'a'],
    ])
      expect((await send({ routing_key, event_action: 'resolve', dedup_key })).status).to.equal(202)
    expect(told()).to.deep.equal(['triggered: trigger'])
  })

  for (const { name, event } of [
    { name: 'no JSON', event: '{' },
    { name: 'a routing key of another length', event: trigger('a', { routing_key: 'short' }) },
    { name: 'an unknown action', event: trigger('a', { event_action: 'escalate' }) },
    { name: 'a resolve without dedup_key', event: { routing_key: KEY, event_action: 'resolve' } },
    { name: 'a dedup_key of 256 characters', event: trigger('k'.repeat(256)) },
    { name: 'a summary of 1,025 characters', event: trigger('a', { payload: { ...payload, summary: '界'.repeat(1_025) } }) },
    { name: 'no source', event: trigger('a', { payload: { ...payload, source: '' } }) },
    { name: 'an unknown severity', event: trigger('a', { payload: { ...payload, severity: 'high' } }) },
    { name: 'an image without https', event: trigger('a', { images: [{ src: 'http://a/b.png' }] }) },
  ])
    it(`refuses ${name}`, async () => {
      const { status, body } = await send(event)
      expect(status).to.equal(400)
      expect(body).to.include({ status: 'invalid event', message: 'Event object is invalid' })
      expect(body.errors).to.be.an('array').that.is.not.empty
    })

  it('says of a well-formed key that nobody has, in plain text: Invalid routing key', async () => {
    const { status, body } = await send(trigger('a', { routing_key: 'x'.repeat(32) }))
    expect({ status, body }).to.deep.equal({ status: 400, body: 'Invalid routing key' })
  })

  it('takes a summary of 1,024 characters that are two UTF-16 units each', async () => {
    expect((await send(trigger('a', { payload: { ...payload, summary: '🔥'.repeat(1_024) } }))).status).to.equal(202)
  })

  it('refuses an event of more than 512 KB', async () => {
    expect((await send(trigger('a', { payload: { ...payload, custom_details: { log: 'x'.repeat(600_000) } } }))).status).to.equal(413)
  })
})
