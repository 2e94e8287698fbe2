import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import type { IncidentStatus } from '../../../../domain/incidents/incident-status.ts'
import { type IncidentFilters, type ListQuery, NO_FILTERS } from './incident-filters.ts'
import { type Listed, type ListPage, listOf, readPage } from './incident-pages.ts'

const PAGE = 200

const incident = (at: number, severity: Severity, status: IncidentStatus): Listed => ({
  ...{ id: `i${at}`, severity, status },
  createdAt: new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString(),
})

/** 340 incidents, a quarter of each severity, of which those `at % 17` = 3 are escalated and those = 5 acknowledged; the critical ones are the oldest. */
const STORM = Array.from({ length: 340 }, (_, at) =>
  incident(at, SEVERITIES[Math.floor(at / 85)]!, at % 17 === 3 ? 'escalated' : at % 17 === 5 ? 'acknowledged' : 'open'),
)

/** The API as it is: one status, one severity, the newest first. */
function apiOf(incidents: readonly Listed[]) {
  const asked: ListQuery[] = []
  const list = async (query: ListQuery) => {
    asked.push(query)
    const { status, severity, cursor = '0' } = query
    const all = incidents
      .filter(each => (status === undefined || each.status === status) && (severity === undefined || each.severity === severity))
      .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    const end = Number(cursor) + PAGE
    return { incidents: all.slice(Number(cursor), end), nextCursor: end < all.length ? String(end) : undefined }
  }
  return { list, asked }
}

/** The list after each page. */
async function readAll(list: ReturnType<typeof apiOf>['list'], filters: IncidentFilters) {
  const pages: ListPage<Listed>[] = []
  const shown: (readonly Listed[])[] = []
  do {
    pages.push(await readPage(list, filters, pages.at(-1)?.next))
    shown.push(listOf(pages, filters.order))
  } while (pages.at(-1)!.next !== undefined)
  return shown
}

const severitiesOf = (incidents: readonly Listed[]) => incidents.map(({ severity }) => SEVERITIES.indexOf(severity))
const isSorted = (values: readonly number[]) => values.every((value, at) => at === 0 || values[at - 1]! <= value)

describe('the list of incidents', () => {
  it('shows the most severe first of all that match, however old they are', async () => {
    const [first] = await readAll(apiOf(STORM).list, NO_FILTERS)
    const unacknowledged = STORM.filter(({ status, severity }) => status !== 'acknowledged' && severity === 'critical')
    expect(first!.slice(0, unacknowledged.length).map(({ severity }) => severity)).to.deep.equal(unacknowledged.map(() => 'critical'))
    expect(first![unacknowledged.length]!.severity).to.equal('high')
    expect(first!.length).to.be.at.least(PAGE)
  })

  const LISTS: Readonly<Record<string, Partial<IncidentFilters>>> = {
    'as it opens': {},
    'of all statuses': { status: 'all' },
    'of one status': { status: 'open' },
    'of one severity': { severity: 'low' },
    'by time': { order: 'newest' },
    'of all statuses, by time': { order: 'newest', status: 'all' },
  }
  for (const [name, changes] of Object.entries(LISTS))
    it(`${name} adds each page below the ones before, until all are there`, async () => {
      const filters = { ...NO_FILTERS, ...changes }
      const incidents = [...STORM, ...STORM.map(each => ({ ...each, id: `r${each.id}`, status: 'resolved' as const }))]
      const matching = incidents.filter(
        ({ status, severity }) =>
          (filters.status === 'all' || (filters.status === 'open' ? status === 'open' : status !== 'resolved')) &&
          (filters.severity === undefined || severity === filters.severity),
      )
      const shown = await readAll(apiOf(matching).list, filters)
      for (const [at, before] of shown.slice(0, -1).entries()) {
        expect(shown[at + 1]!.slice(0, before.length)).to.deep.equal(before)
        expect(shown[at + 1]!.length).to.be.above(before.length)
      }
      expect(shown.at(-1)!.map(({ id }) => id)).to.have.members(matching.map(({ id }) => id))
      expect(shown.at(-1)).to.have.length(matching.length)
    })

  it('stands in order: not acknowledged, then by severity, then by time', async () => {
    const all = (await readAll(apiOf(STORM).list, NO_FILTERS)).at(-1)!
    const firstSeen = all.findIndex(({ status }) => status === 'acknowledged')
    expect(all.slice(firstSeen).every(({ status }) => status === 'acknowledged')).to.equal(true)
    expect(isSorted(severitiesOf(all.slice(0, firstSeen)))).to.equal(true)
    expect(isSorted(severitiesOf(all.slice(firstSeen)))).to.equal(true)
    expect(isSorted(all.slice(0, 80).map(({ createdAt }) => -Date.parse(createdAt)))).to.equal(true)
  })

  it('asks once for each status where that is all', async () => {
    const { list, asked } = apiOf(STORM.slice(0, 150))
    expect(await readAll(list, NO_FILTERS)).to.have.length(1)
    expect(asked.map(({ status }) => status)).to.have.members(['open', 'escalated', 'acknowledged'])
  })

  it('shows an incident once that was in two answers, as the later one has it', () => {
    const before = incident(1, 'high', 'open')
    const after = incident(1, 'high', 'acknowledged')
    const pages = [{ incidents: [before] }, { incidents: [after] }].map(page => ({ ...page, next: undefined }))
    expect(listOf(pages, 'severity')).to.deep.equal([after])
  })
})
