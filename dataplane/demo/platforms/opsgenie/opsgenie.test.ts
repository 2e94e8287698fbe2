import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { useStubCaller } from '../testing/stub-caller.ts'

describe('the stub of Opsgenie', () => {
  const at = useStubCaller()
  afterEach(() => at.call('opsgenie', 'DELETE /_stub/state'))
  const create = (more: object = {}) => at.call('opsgenie', 'POST /v2/alerts', { message: 'checkout is down', alias: 'a', ...more })
  const act = (action: string, body: object = {}) => at.call('opsgenie', `POST /v2/alerts/a/${action}?identifierType=alias`, body)
  const alerts = () =>
    at.stubs.state('opsgenie')['alerts'] as readonly { status: string; acknowledged: boolean; count: number; priority: string }[]
  const outcome = async ({ body }: { body: { requestId: string } }) =>
    await at.call('opsgenie', `GET /v2/alerts/requests/${body.requestId}`)

  it('takes a request with 202, knows nothing of it at first, and does it a little later', async () => {
    const taken = await create()
    expect(taken.status).to.equal(202)
    expect(taken.body).to.have.all.keys('result', 'took', 'requestId')
    expect((await outcome(taken)).status).to.equal(404)
    expect(alerts()).to.deep.equal([])
    at.clock.advance(200)
    const { data } = (await outcome(taken)).body
    expect(data).to.include({ success: true, isSuccess: true, action: 'Create', alias: 'a' })
    expect(alerts().map(({ status, priority }) => `${status} ${priority}`)).to.deep.equal(['open P3'])
  })

  it('counts an alias that is open, and opens a new alert after close', async () => {
    await create()
    await create()
    await act('acknowledge', { note: 'looking' })
    at.clock.advance(200)
    expect(alerts()[0]).to.include({ status: 'open', acknowledged: true, count: 2 })
    await act('close')
    await create()
    at.clock.advance(200)
    expect(alerts().map(({ status }) => status)).to.deep.equal(['open', 'closed'])
  })

  it('fails later what is for no open alert', async () => {
    const taken = await act('acknowledge')
    expect(taken.status).to.equal(202)
    at.clock.advance(200)
    expect((await outcome(taken)).body.data).to.include({ isSuccess: false, status: 'Alert does not exist' })
  })

  it('fails after 202 when it is told to', async () => {
    at.stubs.fault('opsgenie', { kind: 'own', name: 'fails-later' })
    const taken = [await create(), await create()]
    at.clock.advance(200)
    const outcomes = await Promise.all(taken.map(outcome))
    expect(outcomes.map(({ body }) => body.data.isSuccess)).to.deep.equal([false, true])
    expect(alerts()).to.have.length(1)
  })

  it('changes the priority, and escalates only to an escalation', async () => {
    await create()
    await at.call('opsgenie', 'PUT /v2/alerts/a/priority?identifierType=alias', { priority: 'P1' })
    expect((await act('escalate')).status).to.equal(422)
    expect((await act('escalate', { escalation: { name: 'ops' } })).status).to.equal(202)
    at.clock.advance(200)
    expect(alerts()[0]!.priority).to.equal('P1')
  })

  for (const { name, more } of [
    { name: 'a message of 131 characters', more: { message: 'x'.repeat(131) } },
    { name: 'no message', more: { message: '' } },
    { name: 'an alias of 513 characters', more: { alias: 'x'.repeat(513) } },
    { name: '21 tags', more: { tags: Array.from({ length: 21 }, (_, at) => `t${at}`) } },
    { name: 'a tag of 51 characters', more: { tags: ['x'.repeat(51)] } },
    { name: 'details of more than 8,000 characters', more: { details: { a: 'x'.repeat(8_000) } } },
    { name: 'a detail that is no text', more: { details: { count: 3 } } },
    { name: 'a description of 15,001 characters', more: { description: 'x'.repeat(15_001) } },
    { name: 'an unknown priority', more: { priority: 'P6' } },
  ])
    it(`answers 422 to ${name}`, async () => {
      const { status, body } = await create(more)
      expect(status).to.equal(422)
      expect(body.errors).to.be.an('object')
    })

  it('answers 401 to a wrong key', async () => {
    expect((await at.call('opsgenie', 'GET /v2/alerts?limit=1', undefined, { authorization: 'GenieKey no' })).status).to.equal(401)
    expect((await at.call('opsgenie', 'GET /v2/alerts?limit=1')).status).to.equal(200)
  })
})
