import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { IncidentStatus } from '../incidents/incident-status.ts'
import { coalesce } from './coalescing.ts'
import type { StateChange } from './outbox-row.ts'
import { buildRow } from './testing/row-fixture.ts'

/** Rows in a short form: `*` behind an event: an attempt of it may have arrived. */
const left = (waiting: string, ticketStatus?: IncidentStatus, change?: StateChange) => {
  const rows = waiting.split(' ').map((word, i) =>
    buildRow({
      ...{ seq: i + 1, event: word.replace('*', '') as 'open', news: [word] },
      ...(word.endsWith('*') && { mayBeThere: true }),
      ...(change !== undefined && { change }),
    }),
  )
  return coalesce(rows, ticketStatus).flatMap(({ status, event }) => (status === 'pending' ? [event] : []))
}

describe('coalescing', () => {
  const cases: readonly { says: string; waiting: string; ticket?: IncidentStatus; sends: readonly string[] }[] = [
    { says: 'one row is sent as it is', waiting: 'open', sends: ['open'] },
    { says: 'several pending updates become one', waiting: 'update update update', ticket: 'open', sends: ['update'] },
    { says: 'an update merges into an open that is not sent yet', waiting: 'open update', sends: ['open'] },
    { says: 'so does a comment: the ticket says it all', waiting: 'open comment acknowledge comment', sends: ['open', 'acknowledge'] },
    { says: 'a comment stays behind an open that may have arrived', waiting: 'open* comment', sends: ['open', 'comment'] },
    { says: 'an update stays behind an open that may have arrived', waiting: 'open* update', sends: ['open', 'update'] },
    { says: 'acknowledge follows open', waiting: 'open acknowledge', sends: ['open', 'acknowledge'] },
    { says: 'resolve is enough where acknowledge waits', waiting: 'acknowledge resolve', ticket: 'open', sends: ['resolve'] },
    { says: 'what was never told need not be told once it is resolved', waiting: 'open acknowledge resolve', sends: [] },
    { says: 'resolve follows an open that may have arrived', waiting: 'open* update resolve', sends: ['open', 'resolve'] },
    { says: 'resolve follows a reopening that may have made a ticket', waiting: 'reopen* resolve', sends: ['reopen', 'resolve'] },
    { says: 'a second reopening goes with one that may have made a ticket', waiting: 'reopen* resolve reopen', sends: ['reopen'] },
    { says: 'of reopenings that nobody was told of the last one counts', waiting: 'reopen resolve reopen', sends: ['reopen'] },
    { says: 'a reopening that nobody was told of need not be told once it is resolved', waiting: 'reopen resolve', sends: [] },
    { says: 'resolve and reopen undo each other', waiting: 'resolve reopen', ticket: 'open', sends: [] },
    { says: 'a reopening of a resolved ticket is told', waiting: 'reopen', ticket: 'resolved', sends: ['reopen'] },
    { says: 'reopen and resolve undo each other', waiting: 'reopen resolve', ticket: 'resolved', sends: [] },
    { says: 'reopen is told where resolve may have arrived', waiting: 'resolve* reopen', ticket: 'open', sends: ['resolve', 'reopen'] },
    { says: 'resolved and reopened before it was told, it is opened', waiting: 'open resolve reopen', sends: ['open'] },
    { says: 'what comes after reopen stays', waiting: 'resolve reopen acknowledge', ticket: 'open', sends: ['acknowledge'] },
    { says: 'escalate follows acknowledge', waiting: 'acknowledge escalate', ticket: 'open', sends: ['acknowledge', 'escalate'] },
    { says: 'a comment stays', waiting: 'update comment update', ticket: 'open', sends: ['update', 'comment', 'update'] },
  ]
  for (const { says, waiting, ticket, sends } of cases) it(says, () => expect(left(waiting, ticket)).to.deep.equal(sends))

  it('the words of a person are told beside an opening that still waits', () => {
    const change = { at: '2026-01-01T00:00:00.000Z', actor: 'ann', note: 'the pool is empty' }
    const rows = [
      buildRow({ seq: 1, event: 'open' }),
      buildRow({ seq: 2, event: 'comment' }),
      buildRow({ seq: 3, event: 'comment', change }),
    ]
    expect(coalesce(rows, undefined).map(({ status }) => status)).to.deep.equal(['pending', 'suppressed', 'pending'])
  })

  const spoken: readonly { says: string; waiting: string; ticket?: IncidentStatus; sends: readonly string[] }[] = [
    { says: 'a reopening', waiting: 'comment reopen', ticket: 'resolved', sends: ['comment', 'reopen'] },
    { says: 'a resolution', waiting: 'acknowledge comment resolve', ticket: 'open', sends: ['comment', 'resolve'] },
    { says: 'both, which undo each other', waiting: 'resolve comment reopen', ticket: 'open', sends: ['comment'] },
    { says: 'a resolution of what may have been opened', waiting: 'open* comment resolve', sends: ['open', 'comment', 'resolve'] },
    {
      says: 'a resolution of what may have been opened again',
      waiting: 'reopen* comment resolve',
      sends: ['reopen', 'comment', 'resolve'],
    },
    { says: 'a reopening of what is still to be opened', waiting: 'open comment resolve reopen', sends: ['open', 'comment'] },
  ]
  for (const { says, waiting, ticket, sends } of spoken)
    it(`the words of a person are told in spite of ${says}`, () =>
      expect(left(waiting, ticket, { at: '2026-01-01T00:00:00.000Z', actor: 'ann', note: 'the pool is empty' })).to.deep.equal(sends))

  it('the words of a person are not told where nobody is told of the incident', () =>
    expect(left('open comment resolve', undefined, { at: '2026-01-01T00:00:00.000Z', actor: 'ann' })).to.deep.equal([]))

  it('the update that is left tells the news of all', () => {
    const rows = ['a', 'b', 'c'].map((news, i) => buildRow({ seq: i + 1, event: 'update', news: [news] }))
    expect(coalesce(rows, 'open').at(-1)!.news).to.deep.equal(['a', 'b', 'c'])
  })

  it('rows that are settled stay as they are', () => {
    const rows = [buildRow({ seq: 1, event: 'open', status: 'sent' }), buildRow({ seq: 2, event: 'resolve' })]
    expect(coalesce(rows, 'open')).to.deep.equal(rows)
  })
})
