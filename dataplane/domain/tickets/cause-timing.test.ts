import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../testing/incident-fixture.ts'
import { analysisStarts, analysisTime, nextAnalysisMs } from './cause-timing.ts'
import type { IncidentTickets, TicketedIncident } from './incident-tickets.ts'

const SEEN = '2026-01-01T00:00:00.000Z'
const SEEN_MS = Date.parse(SEEN)
type Analysed = NonNullable<IncidentTickets['analysed']>

const incident = (analysed?: Partial<Analysed>, over: Partial<TicketedIncident> = {}): TicketedIncident => ({
  ...buildIncident({ firstSeen: SEEN }),
  ticketing:
    analysed === undefined
      ? {}
      : { analysed: { at: SEEN, severity: 'high', services: ['checkout', 'payment'], windowMs: 180_000, ...analysed } },
  ...over,
})

describe('when a cause is looked for', () => {
  it('a little before the first anomaly: what broke shows there', () => expect(analysisTime(incident())).to.equal(SEEN_MS - 15_000))

  it('or a minute, or three: anomalies may come late', () =>
    expect(analysisStarts(SEEN_MS - 15_000)).to.deep.equal([SEEN_MS - 15_000, SEEN_MS - 60_000, SEEN_MS - 180_000]))

  it('before anybody is told', () => expect(nextAnalysisMs(incident())).to.equal(Number.NEGATIVE_INFINITY))

  it('not again when nothing changed', () => expect(nextAnalysisMs(incident({}))).to.equal(undefined))

  it('again when it grew in severity or services, at most once a minute', () => {
    expect(nextAnalysisMs(incident({}, { severity: 'critical' }))).to.equal(SEEN_MS + 60_000)
    expect(nextAnalysisMs(incident({}, { affectedServices: ['checkout', 'payment', 'cart'] }))).to.equal(SEEN_MS + 60_000)
    expect(nextAnalysisMs(incident({}, { anomalyCount: 99 }))).to.equal(undefined)
  })

  it('once more when three minutes of records are there', () =>
    expect(nextAnalysisMs(incident({ windowMs: 20_000 }))).to.equal(SEEN_MS - 15_000 + 180_000 + 5_000))

  it('of an incident from a clock that is ahead, three minutes after it was made, not when its time has come', () => {
    const createdAt = new Date(SEEN_MS - 3_600_000).toISOString()
    const made = incident({ windowMs: 20_000, at: createdAt }, { createdAt })
    expect(nextAnalysisMs(made)).to.equal(SEEN_MS - 3_600_000 + 180_000 + 5_000)
  })

  it('once more a minute later when the records of an incident came late: others of their time are stored by then', () => {
    const createdAt = new Date(SEEN_MS + 600_000).toISOString()
    const analysedAt = (afterMs: number) => incident({ at: new Date(SEEN_MS + 600_000 + afterMs).toISOString() }, { createdAt })
    expect(nextAnalysisMs(analysedAt(1_500))).to.equal(SEEN_MS + 600_000 + 61_500)
    expect(nextAnalysisMs(analysedAt(30_000))).to.equal(SEEN_MS + 600_000 + 90_000)
    expect(nextAnalysisMs(analysedAt(60_000))).to.equal(undefined)
  })

  it('after a failure a minute later, three times in all', () => {
    expect(nextAnalysisMs(incident({ hasFailed: true, failures: 2 }))).to.equal(SEEN_MS + 60_000)
    expect(nextAnalysisMs(incident({ hasFailed: true, failures: 3 }))).to.equal(undefined)
  })

  it('not for what is resolved', () => expect(nextAnalysisMs(incident(undefined, { status: 'resolved' }))).to.equal(undefined))
})
