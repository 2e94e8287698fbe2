import { expect } from 'chai'
import { describe, it } from 'mocha'
import { jira, quoteJql } from './jira.ts'
import { at, textAt } from './json-at.ts'
import { buildRequest, HOSTILE_INCIDENT } from './testing/checkout-incident.ts'
import { refusedConnection, resetAfterSending } from './testing/scripted-outbound.ts'
import { lookScripted, sendScripted, testScripted } from './testing/send-scripted.ts'

const API = 'https://jira.example.com/rest/api/3'
const CREATED = { status: 201, body: { id: '10017', key: 'OPS-17', self: `${API}/issue/10017` } }
const NOTHING = { status: 200, body: { issues: [], isLast: true } }
const FOUND = { status: 200, body: { issues: [{ id: '10017', key: 'OPS-17' }], isLast: true } }
const COMMENTED = { status: 201, body: { id: '1' } }
const DONE = { status: 204 }
const TICKET = { externalId: 'OPS-17', memory: { severity: 'critical' } }
const isAt = (category: string) => ({ status: 200, body: { fields: { status: { statusCategory: { key: category } } } } })
const offers = (...transitions: readonly (readonly [id: string, name: string, category: string])[]) => ({
  status: 200,
  body: { transitions: transitions.map(([id, name, key]) => ({ id, name, to: { statusCategory: { key } } })) },
})

describe('Jira', () => {
  it('repeats no secret of its own target, nor of another one, wherever its words are cut', async () => {
    const request = { ...buildRequest('jira', { fields: { webhookSecret: 'hook-secret-1' } }), secrets: ['other-secret-2'] }
    const said = `${'x'.repeat(290)} other-secret-2 hook-secret-1`
    const { outcome } = await sendScripted(jira, request, { status: 403, body: { errorMessages: ['hook-secret-1 other-secret-2', said] } })
    expect(JSON.stringify(outcome))
      .to.include('**** ****')
      .and.to.not.match(/other-se|hook-se/)
  })

  it('creates an issue with the label that it is found by', async () => {
    const { outcome, outbound, body } = await sendScripted(jira, buildRequest('jira'), CREATED)
    expect(outbound.calls).to.deep.equal([`POST ${API}/issue`])
    expect(outbound.requests[0]!.headers).to.include({ authorization: `Basic ${btoa('bot@example.com:jira-secret-token')}` })
    expect(at(body(0), 'fields')).to.deep.include({
      project: { key: 'OPS' },
      issuetype: { name: 'Bug' },
      priority: { name: 'Highest' },
      labels: ['logpipeline', 'lp-7c1f9a52'],
      summary: 'checkout: Payment declined: upstream <*> timed out after <*> ms',
    })
    const ticket = { externalId: 'OPS-17', url: 'https://jira.example.com/browse/OPS-17', memory: { severity: 'critical' } }
    expect(outcome).to.deep.equal({ kind: 'delivered', ticket })
  })

  it('has no empty text in its description, and none of log text is markup', async () => {
    const { body } = await sendScripted(jira, buildRequest('jira', { content: HOSTILE_INCIDENT }), CREATED)
    const description = JSON.stringify(at(body(0), 'fields', 'description'))
    expect(description).to.not.include('"text":""').and.not.include('"content":[]')
    expect(description).to.include('<!channel> <http://evil.example|safe>')
    expect(textAt(body(0), 'fields', 'summary')).to.not.include('\n')
  })

  it('keeps to 255 characters of summary and 32,767 of description', async () => {
    const samples = Array.from({ length: 5 }, (_, n) => ({
      timestamp: '',
      level: 'ERROR',
      service: 'a',
      message: '"\\'.repeat(500),
      logId: `l${n}`,
    }))
    const evidence = Array.from({ length: 5 }, () => ({ pattern: '日'.repeat(9_000), count: 1, samples }))
    for (const nextAction of ['x', '"'.repeat(90_000)]) {
      const content = { title: '🚲'.repeat(300), evidence, nextAction }
      const { body } = await sendScripted(jira, buildRequest('jira', { content }), CREATED)
      expect([...textAt(body(0), 'fields', 'summary')!]).to.have.length(255)
      expect([...JSON.stringify(at(body(0), 'fields', 'description'))]).to.have.length.at.most(32_767)
    }
  })

  it('looks for an issue that may have been created before it creates one', async () => {
    const { outcome, outbound, body } = await sendScripted(jira, buildRequest('jira', { mayBeThere: true }), FOUND)
    expect(outbound.calls).to.deep.equal([`POST ${API}/search/jql`])
    expect(body(0)).to.deep.include({ jql: 'labels = "lp-7c1f9a52" ORDER BY created ASC' })
    expect(at(outcome, 'ticket', 'externalId')).to.equal('OPS-17')
  })

  it('looks again and again, as the search learns of new issues late', async () => {
    const late = await lookScripted(jira, buildRequest('jira', { mayBeThere: true }), NOTHING, NOTHING, NOTHING, FOUND)
    expect(late.outbound.calls).to.not.include(`POST ${API}/issue`)
    expect(late.waitedMs).to.equal(9_500)
    const never = await lookScripted(jira, buildRequest('jira', { mayBeThere: true }), ...Array.from({ length: 6 }, () => NOTHING), CREATED)
    expect(never.outbound.calls.at(-1)).to.equal(`POST ${API}/issue`)
    expect(never.waitedMs).to.equal(18_000)
  })

  it('ends its attempt between two looks, so that other incidents have its place', async () => {
    const { outcome, waitedMs } = await sendScripted(jira, buildRequest('jira', { mayBeThere: true }), NOTHING)
    expect(outcome).to.deep.equal({
      kind: 'unseen',
      reason: 'Jira does not show whether an earlier attempt has arrived: it is looked for again',
      lookAgainMs: 2_000,
    })
    expect(waitedMs).to.equal(0)
  })

  it('looks for a minute after a create without any answer, which is likely there, and not again when the minute is over', async () => {
    const lost = (unansweredForMs: number) => buildRequest('jira', { mayBeThere: true, unansweredForMs })
    const late = await lookScripted(jira, lost(2_000), ...Array.from({ length: 8 }, () => NOTHING), FOUND)
    expect(late.outbound.calls).to.not.include(`POST ${API}/issue`)
    expect(late.waitedMs).to.equal(48_250)
    const never = await lookScripted(jira, lost(2_000), ...Array.from({ length: 11 }, () => NOTHING), CREATED)
    expect(never.outbound.calls.at(-1)).to.equal(`POST ${API}/issue`)
    expect(never.waitedMs).to.equal(58_000)
    const old = await lookScripted(jira, lost(300_000), NOTHING, CREATED)
    expect(old.waitedMs).to.equal(0)
  })

  it('asks between the look and the create', async () => {
    const asked: number[] = []
    const { outbound } = await sendScripted(
      jira,
      buildRequest('jira', { mayBeThere: true, unansweredForMs: 60_000, beforeWriting: async () => asked.push(1) > 0 }),
      NOTHING,
      CREATED,
    )
    expect(outbound.calls).to.deep.equal([`POST ${API}/search/jql`, `POST ${API}/issue`])
    expect(asked).to.have.length(1)
  })

  it('looks for as long after a 201 without the key of the issue', async () => {
    for (const body of ['<html>', { id: '10001' }, ''])
      expect((await sendScripted(jira, buildRequest('jira'), { status: 201, body })).outcome).to.include({
        kind: 'retryable',
        isAmbiguous: true,
        isUnanswered: true,
      })
  })

  it('is ambiguous after a reset of the create, not after one of the search', async () => {
    expect((await sendScripted(jira, buildRequest('jira'), resetAfterSending())).outcome).to.include({ isAmbiguous: true })
    expect((await sendScripted(jira, buildRequest('jira'), refusedConnection())).outcome).to.not.have.property('isAmbiguous')
    const searching = await sendScripted(jira, buildRequest('jira', { mayBeThere: true }), { status: 503 })
    expect(searching.outcome).to.include({ kind: 'retryable' }).and.not.have.property('isAmbiguous')
  })

  it('goes without a priority where the project has none of that name', async () => {
    const refused = { status: 400, body: { errorMessages: [], errors: { priority: 'The priority selected is invalid.' } } }
    const { outcome, body } = await sendScripted(jira, buildRequest('jira'), refused, CREATED)
    expect(at(body(1), 'fields', 'priority')).to.equal(undefined)
    expect(outcome).to.have.property('note', 'without a priority: the project takes none named Highest')
  })

  it('takes the names of priorities from its settings', async () => {
    const { body } = await sendScripted(jira, buildRequest('jira', { fields: { priorityCritical: 'P1 - Urgent' } }), CREATED)
    expect(at(body(0), 'fields', 'priority', 'name')).to.equal('P1 - Urgent')
  })

  it('names the setting that mends a refusal', async () => {
    const refused = { status: 400, body: { errorMessages: [], errors: { issuetype: 'Specify a valid issue type' } } }
    const { outcome } = await sendScripted(jira, buildRequest('jira'), refused)
    expect(outcome).to.deep.equal({
      kind: 'rejected',
      reason: 'Jira answered 400: the request was refused (issuetype: Specify a valid issue type); set issueType',
    })
  })

  const moves = [
    {
      event: 'acknowledge',
      from: 'new',
      offered: offers(['11', 'Backlog', 'new'], ['21', 'Start', 'indeterminate'], ['31', 'Close', 'done']),
      id: '21',
    },
    { event: 'resolve', from: 'indeterminate', offered: offers(['21', 'Start', 'indeterminate'], ['31', 'Close', 'done']), id: '31' },
    { event: 'reopen', from: 'done', offered: offers(['21', 'Start', 'indeterminate'], ['11', 'Backlog', 'new']), id: '11' },
    { event: 'reopen', from: 'done', offered: offers(['21', 'Start', 'indeterminate']), id: '21' },
  ] as const
  for (const { event, from, offered, id } of moves)
    it(`${event} takes the transition ${id}, by the category that it leads to, and comments`, async () => {
      const { outcome, outbound, body } = await sendScripted(
        jira,
        buildRequest('jira', { event, ticket: TICKET }),
        isAt(from),
        offered,
        DONE,
        COMMENTED,
      )
      expect(outbound.calls.slice(2)).to.deep.equal([`POST ${API}/issue/OPS-17/transitions`, `POST ${API}/issue/OPS-17/comment`])
      expect(body(2)).to.deep.equal({ transition: { id } })
      expect(outcome).to.include({ kind: 'delivered' }).and.not.have.property('note')
    })

  it('takes the transition that is configured by name', async () => {
    const fields = { resolveTransition: 'ship it' }
    const offered = offers(['31', 'Close', 'done'], ['41', 'Ship it', 'done'])
    const { body } = await sendScripted(
      jira,
      buildRequest('jira', { event: 'resolve', ticket: TICKET, fields }),
      isAt('new'),
      offered,
      DONE,
      COMMENTED,
    )
    expect(body(2)).to.deep.equal({ transition: { id: '41' } })
  })

  it('comments where the workflow has no such transition, or refuses it', async () => {
    const resolve = buildRequest('jira', { event: 'resolve', ticket: TICKET })
    const without = await sendScripted(jira, resolve, isAt('new'), offers(['21', 'Start', 'indeterminate']), COMMENTED)
    expect(without.outcome).to.have.property('note', 'the workflow has no transition to done from where OPS-17 is: a comment says it')
    const refusal = { status: 400, body: { errorMessages: [], errors: { resolution: 'Resolution is required.' } } }
    const refused = await sendScripted(jira, resolve, isAt('new'), offers(['31', 'Close', 'done']), refusal, COMMENTED)
    expect(refused.outcome).to.include({ kind: 'delivered' })
    expect(refused.outcome).to.have.property('note').that.includes('resolution: Resolution is required.')
  })

  it('tries again where somebody changes the issue in the same moment, rather than leave it where it is', async () => {
    const conflict = { status: 409, body: { errorMessages: ['The issue could not be updated due to a conflicting update.'] } }
    const resolving = buildRequest('jira', { event: 'resolve', ticket: TICKET })
    const moving = await sendScripted(jira, resolving, isAt('new'), offers(['31', 'Close', 'done']), conflict)
    expect(moving.outcome).to.include({ kind: 'retryable' }).and.not.have.property('isTargetDown')
    const rising = buildRequest('jira', { event: 'escalate', ticket: { externalId: 'OPS-17', memory: { severity: 'medium' } } })
    const raising = await sendScripted(jira, rising, isAt('new'), conflict)
    expect(raising.outcome).to.include({ kind: 'retryable' }).and.not.have.property('isTargetDown')
  })

  it('has moved an issue that takes no more comments; words alone are not told there', async () => {
    const full = { status: 413, body: { errorMessages: ['A per-issue limit has been breached: comments'] } }
    const resolving = buildRequest('jira', { event: 'resolve', ticket: TICKET })
    const moved = await sendScripted(jira, resolving, isAt('new'), offers(['31', 'Close', 'done']), DONE, full)
    expect(moved.outcome).to.include({ kind: 'delivered' })
    expect(moved.outcome)
      .to.have.property('note')
      .that.matches(/^without a comment: Jira answered 413/)
    expect((await sendScripted(jira, buildRequest('jira', { event: 'comment', ticket: TICKET }), full)).outcome).to.include({
      kind: 'rejected',
    })
  })

  it('moves an issue whose status is not shown', async () => {
    const { outbound } = await sendScripted(
      jira,
      buildRequest('jira', { event: 'resolve', ticket: TICKET }),
      { status: 404 },
      offers(['31', 'Close', 'done']),
      DONE,
      COMMENTED,
    )
    expect(outbound.calls.at(2)).to.equal(`POST ${API}/issue/OPS-17/transitions`)
  })

  it('moves no issue that is there already', async () => {
    const { outbound } = await sendScripted(jira, buildRequest('jira', { event: 'resolve', ticket: TICKET }), isAt('done'), COMMENTED)
    expect(outbound.calls).to.have.length(2)
  })

  it('escalates by the highest priority and a comment', async () => {
    const ticket = { externalId: 'OPS-17', memory: { severity: 'medium' } }
    const request = buildRequest('jira', { event: 'escalate', ticket, content: { severity: 'medium' } })
    for (const status of [isAt('indeterminate'), { status: 404 }]) {
      const { outbound, body } = await sendScripted(jira, request, status, DONE, COMMENTED)
      expect(outbound.calls).to.deep.equal([
        `GET ${API}/issue/OPS-17?fields=status`,
        `PUT ${API}/issue/OPS-17`,
        `POST ${API}/issue/OPS-17/comment`,
      ])
      expect(body(1)).to.deep.equal({ fields: { priority: { name: 'Highest' } } })
    }
  })

  it('opens an issue that people closed again when its incident is escalated; where the workflow does not, a comment says it', async () => {
    const request = buildRequest('jira', { event: 'escalate', ticket: TICKET })
    const reopening = offers(['41', 'Reopen', 'new'])
    const { outcome, body } = await sendScripted(jira, request, isAt('done'), reopening, DONE, COMMENTED)
    expect(body(2)).to.deep.equal({ transition: { id: '41' } })
    expect(outcome).to.include({ kind: 'delivered' }).and.not.have.property('note')
    const without = await sendScripted(jira, request, isAt('done'), offers(), COMMENTED)
    expect(without.outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('a comment says it')
  })

  it('opens an issue that people closed again when its incident became more severe, and comments where it grew otherwise', async () => {
    const grown = (severity: 'medium' | 'critical') => {
      const ticket = { externalId: 'OPS-17', memory: { severity } }
      return buildRequest('jira', { event: 'update', ticket, content: { severity: 'critical', news: ['orders is affected, too.'] } })
    }
    const reopening = offers(['41', 'Reopen', 'new'])
    const risen = await sendScripted(jira, grown('medium'), isAt('done'), reopening, DONE, DONE, COMMENTED)
    expect(risen.body(2)).to.deep.equal({ transition: { id: '41' } })
    expect(risen.outcome).to.include({ kind: 'delivered' }).and.not.have.property('note')
    const underWay = await sendScripted(jira, grown('medium'), isAt('indeterminate'), DONE, COMMENTED)
    expect(underWay.outbound.calls.filter(call => call.includes('transitions'))).to.deep.equal([])
    const same = await sendScripted(jira, grown('critical'), COMMENTED)
    expect(same.outbound.calls).to.deep.equal([`POST ${API}/issue/OPS-17/comment`])
  })

  it('writes no comment twice', async () => {
    const request = buildRequest('jira', {
      event: 'comment',
      ticket: TICKET,
      content: { news: ['The model says: the pool is too small.'] },
    })
    const first = await sendScripted(jira, request, COMMENTED)
    const written = { status: 200, body: { comments: [first.body(0)] } }
    const second = await sendScripted(jira, { ...request, mayBeThere: true }, written)
    expect(second.outbound.calls).to.deep.equal([`GET ${API}/issue/OPS-17/comment?orderBy=-created&maxResults=20`])
    const other = await sendScripted(jira, { ...request, eventKey: 'other', mayBeThere: true }, written, COMMENTED)
    expect(other.outbound.calls).to.have.length(2)
  })

  it('takes a page of HTML, or half an answer, for no list: nothing is made twice, and a transition is not left out', async () => {
    const moving = buildRequest('jira', { event: 'resolve', ticket: TICKET })
    const commenting = buildRequest('jira', { event: 'comment', ticket: TICKET, mayBeThere: true })
    for (const body of ['', '<html>maintenance</html>', '{"issues":[{"id":"10017","ke', {}, []]) {
      const page = { status: 200, body }
      for (const { outcome, outbound } of [
        await sendScripted(jira, buildRequest('jira', { mayBeThere: true, unansweredForMs: 60_000 }), page, CREATED),
        await sendScripted(jira, moving, isAt('new'), page, COMMENTED),
        await sendScripted(jira, commenting, page, COMMENTED),
      ]) {
        expect(outbound.calls.slice(1).filter(call => call.startsWith('POST'))).to.deep.equal([])
        expect(outcome).to.include({ kind: 'retryable', isTargetDown: true })
      }
    }
  })

  it('creates none for an incident that is resolved by now, and looks for the one that may be there', async () => {
    const late = buildRequest('jira', { mayBeThere: true, unansweredForMs: 60_000, content: { status: 'resolved' } })
    const none = await sendScripted(jira, late, NOTHING)
    expect(none.outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('left out')
    expect((await sendScripted(jira, late, FOUND)).outcome).to.have.nested.property('ticket.externalId')
  })

  it('finds the issue of an event that comes without one, and creates none for a resolved incident', async () => {
    const found = await sendScripted(jira, buildRequest('jira', { event: 'comment' }), FOUND, COMMENTED)
    expect(found.outbound.calls.at(-1)).to.equal(`POST ${API}/issue/OPS-17/comment`)
    const nothing = await sendScripted(jira, buildRequest('jira', { event: 'resolve' }), NOTHING)
    expect(nothing.outcome).to.deep.equal({ kind: 'delivered', note: 'left out: there is no issue to resolve' })
    const escalated = await sendScripted(jira, buildRequest('jira', { event: 'escalate' }), NOTHING, CREATED)
    expect(at(escalated.outcome, 'ticket', 'externalId')).to.equal('OPS-17')
  })

  it('says that an issue was deleted, which leaves the target as it is', async () => {
    const { outcome } = await sendScripted(jira, buildRequest('jira', { event: 'comment', ticket: TICKET }), { status: 404 })
    expect(outcome).to.deep.equal({ kind: 'rejected', reason: 'Jira has no issue OPS-17 any more, or does not show it to this user' })
  })

  it('makes a new issue where the old one was deleted and people are asked for again, one however often', async () => {
    const gone = { status: 404, body: { errorMessages: ['Issue does not exist or you do not have permission to see it.'] } }
    const made = { status: 201, body: { id: '10018', key: 'OPS-18' } }
    for (const [event, answers] of [
      ['reopen', [gone, gone]],
      ['escalate', [gone, gone]],
    ] as const) {
      const request = buildRequest('jira', { event, ticket: TICKET })
      const { outcome, body } = await sendScripted(jira, request, ...answers, made)
      expect(textAt(outcome, 'ticket', 'externalId'), event).to.equal('OPS-18')
      expect(textAt(outcome, 'note'), event).to.match(/no issue OPS-17 any more.*: a new one takes its place/)
      expect(at(body(answers.length), 'fields', 'labels'), event).to.include('lp-7c1f9a52')
      const found = { status: 200, body: { issues: [{ id: '10018', key: 'OPS-18' }], isLast: true } }
      const again = await sendScripted(jira, { ...request, mayBeThere: true }, ...answers, found)
      expect(textAt(again.outcome, 'ticket', 'externalId'), event).to.equal('OPS-18')
      expect(again.outbound.calls.at(-1), event).to.equal(`POST ${API}/search/jql`)
    }
    const over = buildRequest('jira', { event: 'escalate', ticket: TICKET, content: { status: 'resolved' } })
    expect(textAt((await sendScripted(jira, over, gone, gone)).outcome, 'note')).to.include('left out')
  })

  describe('where the settings lead to another Jira than the one that the issue was made in', () => {
    const ticket = { ...TICKET, url: 'https://old.example.com/browse/OPS-17' }
    const labelled = (...labels: readonly string[]) => ({ status: 200, body: { fields: { labels } } })

    it('leaves the issue of the same key alone, and says where the own one is', async () => {
      const { outcome, outbound } = await sendScripted(jira, buildRequest('jira', { event: 'resolve', ticket }), labelled('somebody-else'))
      expect(outbound.calls).to.deep.equal([`GET ${API}/issue/OPS-17?fields=labels`])
      expect(outcome).to.deep.equal({
        kind: 'rejected',
        reason: 'the issue is in another Jira, https://old.example.com/browse/OPS-17: OPS-17 of this one is not of the incident',
      })
    })

    it('makes one there when people are asked for again', async () => {
      const made = { status: 201, body: { id: '3', key: 'OPS-3' } }
      const request = buildRequest('jira', { event: 'reopen', ticket })
      const { outcome, outbound } = await sendScripted(jira, request, labelled(), made)
      expect(outbound.calls).to.deep.equal([`GET ${API}/issue/OPS-17?fields=labels`, `POST ${API}/issue`])
      expect(at(outcome, 'ticket')).to.include({ externalId: 'OPS-3', url: 'https://jira.example.com/browse/OPS-3' })
      const same = { status: 200, body: { issues: [{ id: '10017', key: 'OPS-17' }], isLast: true } }
      const again = await sendScripted(jira, { ...request, mayBeThere: true }, labelled(), same)
      expect(at(again.outcome, 'ticket')).to.include({ externalId: 'OPS-17', url: 'https://jira.example.com/browse/OPS-17' })
    })

    it('goes on with the issue where the same Jira has another address', async () => {
      const request = buildRequest('jira', { event: 'resolve', ticket })
      const { outcome } = await sendScripted(jira, request, labelled('logpipeline', 'lp-7c1f9a52'), isAt('done'), COMMENTED)
      expect(at(outcome, 'ticket')).to.include({ externalId: 'OPS-17', url: 'https://jira.example.com/browse/OPS-17' })
    })
  })

  it('puts values into JQL so that they stay values', () => expect(quoteJql('a" OR "b\\')).to.equal('"a\\" OR \\"b\\\\"'))

  it('is tested by asking who it is and what it may', async () => {
    const me = { status: 200, body: { displayName: 'Bot' } }
    const may = { status: 200, body: { permissions: { CREATE_ISSUES: { havePermission: true } } } }
    const types = {
      status: 200,
      body: {
        issueTypes: [
          { id: '1', name: 'Task' },
          { id: '2', name: 'Bug' },
        ],
      },
    }
    const fieldsOf = (...fields: readonly object[]) => ({ status: 200, body: { fields } })
    const summary = { fieldId: 'summary', name: 'Summary', required: true, hasDefaultValue: false }
    const team = { fieldId: 'customfield_1', name: 'Team', required: true, hasDefaultValue: true }
    const fine = await testScripted(jira, buildRequest('jira'), me, may, types, fieldsOf(summary, team))
    expect(fine.outbound.calls.slice(2)).to.deep.equal([
      `GET ${API}/issue/createmeta/OPS/issuetypes?maxResults=200`,
      `GET ${API}/issue/createmeta/OPS/issuetypes/2?maxResults=200`,
    ])
    expect(fine.result).to.deep.equal({ ok: true, message: 'Jira knows Bot; issues go to project OPS' })
    const mayNot = { status: 200, body: { permissions: { CREATE_ISSUES: { havePermission: false } } } }
    expect((await testScripted(jira, buildRequest('jira'), me, mayNot)).result).to.include({ ok: false })
    expect((await testScripted(jira, buildRequest('jira'), { status: 401, body: 'no' })).result).to.include({ ok: false })
    for (const body of ['Not Found', { error: 'Not Found' }, { errorMessages: ['Not Found'] }])
      expect((await testScripted(jira, buildRequest('jira'), me, { status: 404, body }, { status: 404, body })).result).to.include({
        ok: true,
      })
    const noProject = { status: 404, body: { errorMessages: ["No project could be found with key 'OPS'."] } }
    expect((await testScripted(jira, buildRequest('jira'), me, noProject)).result).to.include({ ok: false })
    expect((await testScripted(jira, buildRequest('jira'), { status: 200, body: '<html>log in</html>' })).result).to.include({ ok: false })
    const wrongType = buildRequest('jira', { fields: { issueType: 'Incident' } })
    expect((await testScripted(jira, wrongType, me, may, types)).result).to.deep.equal({
      ok: false,
      message: 'project OPS has no issue type Incident, but Task, Bug: set issueType',
    })
    const costs = { fieldId: 'customfield_2', name: 'Cost centre', required: true, hasDefaultValue: false }
    expect((await testScripted(jira, buildRequest('jira'), me, may, types, fieldsOf(summary, costs))).result).to.deep.equal({
      ok: false,
      message: 'project OPS wants fields of a Bug that are not sent: Cost centre; make them optional there, or choose another issueType',
    })
  })
})
