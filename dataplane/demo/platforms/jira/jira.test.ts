import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { useStubCaller } from '../testing/stub-caller.ts'

const adf = (...texts: readonly string[]) => ({
  type: 'doc',
  version: 1,
  content: texts.map(text => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
})
const fields = (more: object = {}) => ({
  fields: {
    project: { key: 'OPS' },
    issuetype: { name: 'Task' },
    summary: 'checkout is down',
    description: adf('why'),
    labels: ['lp-1'],
    ...more,
  },
})

describe('the stub of Jira Cloud', () => {
  const at = useStubCaller()
  afterEach(() => at.call('jira', 'DELETE /_stub/state'))
  const create = (more: object = {}) => at.call('jira', 'POST /rest/api/3/issue', fields(more))
  const search = (body: object) => at.call('jira', 'POST /rest/api/3/search/jql', body)

  it('creates issues with a key of their project', async () => {
    const { status, body } = await create()
    expect(status).to.equal(201)
    expect(body.key).to.equal('OPS-1')
    expect((await create()).body.key).to.equal('OPS-2')
    const shown = (await at.call('jira', 'GET /rest/api/3/issue/OPS-1')).body
    expect(shown.fields.status).to.deep.equal({ id: '10000', name: 'To Do', statusCategory: { key: 'new', name: 'To Do' } })
    expect(shown.fields.priority.name).to.equal('Medium')
  })

  for (const { name, more, field } of [
    { name: 'a description that is a plain string', more: { description: 'why' }, field: 'description' },
    { name: 'an empty text node', more: { description: adf('') }, field: 'description' },
    {
      name: 'a node that there is not',
      more: { description: { type: 'doc', version: 1, content: [{ type: 'marquee' }] } },
      field: 'description',
    },
    {
      name: 'text outside a paragraph',
      more: { description: { type: 'doc', version: 1, content: [{ type: 'text', text: 'a' }] } },
      field: 'description',
    },
    { name: 'a description of 32,768 characters', more: { description: adf('x'.repeat(32_768)) }, field: 'description' },
    { name: 'a summary of 256 characters', more: { summary: 'x'.repeat(256) }, field: 'summary' },
    { name: 'a summary of two lines', more: { summary: 'a\nb' }, field: 'summary' },
    { name: 'a label with a space', more: { labels: ['a b'] }, field: 'labels' },
    { name: 'a project that there is not', more: { project: { key: 'NONE' } }, field: 'project' },
    { name: 'no issue type', more: { issuetype: undefined }, field: 'issuetype' },
    { name: 'a priority that there is not', more: { priority: { name: 'Urgent' } }, field: 'priority' },
    { name: 'a field that there is not', more: { customfield_1: 'x' }, field: 'customfield_1' },
    { name: 'an issue without a field that its project wants', more: { project: { key: 'FORM' } }, field: 'customfield_10050' },
  ])
    it(`refuses ${name}`, async () => {
      const { status, body } = await create(more)
      expect(status).to.equal(400)
      expect(body.errors).to.have.all.keys(field)
    })

  it('takes a summary of 255 characters that are two UTF-16 units each', async () => {
    expect((await create({ summary: '🔥'.repeat(255) })).status).to.equal(201)
  })

  it('answers 401 without the right e-mail and token, and tells who they are', async () => {
    expect((await at.call('jira', 'GET /rest/api/3/myself')).body.emailAddress).to.equal('demo@example.com')
    const { status } = await at.call('jira', 'GET /rest/api/3/myself', undefined, { authorization: 'Basic bm9ib2R5OngK' })
    expect(status).to.equal(401)
  })

  it('tells permissions and the fields that a project wants', async () => {
    const { body } = await at.call('jira', 'GET /rest/api/3/mypermissions?permissions=CREATE_ISSUES&projectKey=OPS')
    expect(body.permissions.CREATE_ISSUES.havePermission).to.equal(true)
    const [type] = (await at.call('jira', 'GET /rest/api/3/issue/createmeta/FORM/issuetypes')).body.issueTypes
    const meta = (await at.call('jira', `GET /rest/api/3/issue/createmeta/FORM/issuetypes/${type.id}`)).body
    expect(
      meta.fields.filter(({ required }: { required: boolean }) => required).map(({ fieldId }: { fieldId: string }) => fieldId),
    ).to.deep.equal(['project', 'issuetype', 'summary', 'customfield_10050'])
  })

  it('has no /search any more: 410', async () => {
    expect((await at.call('jira', 'GET /rest/api/3/search?jql=project=OPS')).status).to.equal(410)
  })

  it('finds a new issue only after a while, unless it is asked to reconcile; ids alone without fields', async () => {
    const { id } = (await create()).body
    const query = { jql: 'project = OPS AND labels = "lp-1" AND statusCategory != Done ORDER BY created DESC', fields: ['status'] }
    expect((await search(query)).body.issues).to.deep.equal([])
    expect((await search({ ...query, reconcileIssues: [Number(id)] })).body.issues).to.have.length(1)
    at.clock.advance(2_000)
    const [found] = (await search(query)).body.issues
    expect(found).to.include({ id, key: 'OPS-1' })
    expect((await search({ jql: query.jql })).body.issues).to.deep.equal([{ id }])
    expect((await search({ ...query, jql: query.jql.replace('lp-1', 'lp-2') })).body.issues).to.deep.equal([])
    expect((await search({ jql: 'order by created' })).status).to.equal(400)
    await at.call('jira', 'POST /rest/api/3/issue/OPS-1/transitions', { transition: { id: '31' } })
    expect((await search(query)).body.issues).to.have.length(1)
    at.clock.advance(2_000)
    expect((await search(query)).body.issues).to.deep.equal([])
  })

  it('offers the transitions of the workflow, and refuses others', async () => {
    await create({ project: { key: 'STRICT' } })
    const transitions = async () =>
      (await at.call('jira', 'GET /rest/api/3/issue/STRICT-1/transitions')).body.transitions.map(
        ({ id, to }: { id: string; to: { statusCategory: { key: string } } }) => `${id} ${to.statusCategory.key}`,
      )
    const take = async (id: string) => (await at.call('jira', 'POST /rest/api/3/issue/STRICT-1/transitions', { transition: { id } })).status
    expect(await transitions()).to.deep.equal(['101 indeterminate'])
    expect(await take('102')).to.equal(400)
    expect(await take('101')).to.equal(204)
    expect(await transitions()).to.deep.equal(['102 done'])
    at.stubs.fault('jira', { kind: 'own', name: 'missing-transition', value: 'done' })
    expect(await transitions()).to.deep.equal([])
    expect(await take('102')).to.equal(204)
    expect(await transitions()).to.deep.equal([])
  })

  it('takes comments and another priority', async () => {
    await create()
    expect((await at.call('jira', 'POST /rest/api/3/issue/OPS-1/comment', { body: 'plain' })).status).to.equal(400)
    expect((await at.call('jira', 'POST /rest/api/3/issue/OPS-1/comment', { body: adf('acknowledged', 'by kim') })).status).to.equal(201)
    expect((await at.call('jira', 'PUT /rest/api/3/issue/OPS-1', { fields: { priority: { name: 'Highest' } } })).status).to.equal(204)
    const [issue] = at.stubs.state('jira')['issues'] as readonly { fields: { priority: object }; comments: readonly { text: string }[] }[]
    expect(issue!.fields.priority).to.deep.equal({ name: 'Highest' })
    expect(issue!.comments.map(({ text }) => text)).to.deep.equal(['acknowledged\nby kim\n'])
  })

  it('shows an address for people', async () => {
    const { status, headers } = await at.call('jira', 'GET /browse/OPS-1', undefined, { authorization: '' })
    expect([status, headers.get('location')]).to.deep.equal([302, '/#OPS-1'])
  })
})
