import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { useStubCaller } from '../testing/stub-caller.ts'

const TABLE = '/api/now/table/incident'

describe('the stub of ServiceNow', () => {
  const at = useStubCaller()
  afterEach(() => at.call('servicenow', 'DELETE /_stub/state'))
  const create = (more: object = {}) =>
    at.call('servicenow', `POST ${TABLE}`, { short_description: 'checkout is down', correlation_id: 'lp-1', ...more })

  it('creates incidents; priority comes from impact and urgency, whatever was written', async () => {
    const { status, body } = await create({ impact: '1', urgency: 2, priority: '5' })
    expect(status).to.equal(201)
    expect(body.result).to.include({ number: 'INC0010001', state: '1', priority: '2', active: 'true', correlation_id: 'lp-1' })
    expect(body.result.sys_id).to.match(/^[0-9a-f]{32}$/)
  })

  it('finds by correlation_id, active or not, with the fields that are asked for', async () => {
    const { sys_id } = (await create()).body.result
    const find = async (query: string) =>
      (await at.call('servicenow', `GET ${TABLE}?sysparm_query=${encodeURIComponent(query)}&sysparm_fields=sys_id,state&sysparm_limit=1`))
        .body.result
    expect(await find('correlation_id=lp-1^active=true')).to.deep.equal([{ sys_id, state: '1' }])
    expect(await find('correlation_id=lp-2^ORcorrelation_id=lp-3')).to.deep.equal([])
    await at.call('servicenow', `PATCH ${TABLE}/${sys_id}`, { state: '7', close_code: 'Duplicate', close_notes: 'x' })
    expect(await find('correlation_id=lp-1^active=true')).to.deep.equal([])
    expect(await find('correlation_id=lp-1')).to.have.length(1)
  })

  it('resolves only with close code and notes, reopens, but not once closed', async () => {
    const { sys_id } = (await create()).body.result
    const patch = async (fields: object) => {
      const { status, body } = await at.call('servicenow', `PATCH ${TABLE}/${sys_id}`, fields)
      return status === 200 ? body.result.state : status
    }
    expect(await patch({ state: '6' })).to.equal(403)
    expect(await patch({ state: '6', close_code: 'Solution provided', close_notes: 'mended' })).to.equal('6')
    expect(await patch({ state: '2' })).to.equal('2')
    expect(await patch({ state: '7' })).to.equal('7')
    expect(await patch({ state: '2' })).to.equal(403)
  })

  it('appends work notes to the journal', async () => {
    const { sys_id } = (await create()).body.result
    for (const work_notes of ['one', 'two']) await at.call('servicenow', `PATCH ${TABLE}/${sys_id}`, { work_notes })
    const [incident] = at.stubs.state('servicenow')['incidents'] as readonly { workNotes: readonly { text: string }[] }[]
    expect(incident!.workNotes.map(({ text }) => text)).to.deep.equal(['one', 'two'])
  })

  it('refuses wrong credentials, unknown records, and what is no JSON', async () => {
    expect((await at.call('servicenow', `GET ${TABLE}`, undefined, { authorization: 'Basic eDp5' })).status).to.equal(401)
    expect((await at.call('servicenow', `GET ${TABLE}/none`)).status).to.equal(404)
    expect((await at.call('servicenow', `POST ${TABLE}`, '<xml/>')).status).to.equal(400)
  })

  it('cuts a short description at 160 characters without a word', async () => {
    expect((await create({ short_description: '🔥'.repeat(200) })).body.result.short_description).to.equal('🔥'.repeat(160))
  })

  it('lists its close codes', async () => {
    const { body } = await at.call(
      'servicenow',
      'GET /api/now/table/sys_choice?sysparm_query=name=incident^element=close_code&sysparm_fields=value',
    )
    expect(body.result).to.deep.include({ value: 'Solution provided' })
  })

  it('answers 200 with a page while it hibernates', async () => {
    at.stubs.fault('servicenow', { kind: 'html' })
    const { status, headers, body } = await create()
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html'])
    expect(body).to.contain('hibernating')
    expect(at.stubs.state('servicenow')['incidents']).to.deep.equal([])
  })
})
