import { expect } from 'chai'
import { auditIndex, incidentsIndex } from '../../contract/indices.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { VersionConflict } from '../../ports/search-store.ts'
import { type Log, SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { buildIncident } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { commentIncident } from './comment-incident.ts'
import { createOverlappingCalls } from './overlapping-calls.ts'

describe('a comment on an incident with tickets', () => {
  const index = incidentsIndex('default')
  const incident: TicketedIncident = {
    ...buildIncident({ id: 'i1', platforms: ['slack'] }),
    ticketing: { takenAt: '2026-01-01T00:00:00.000Z' },
  } as TicketedIncident

  /** `conflicts`: how often another writer is first. */
  const comment = async (conflicts: number) => {
    const memory = createMemorySearchStore()
    await memory.put(index, incident.id, incident)
    let left = conflicts
    const store: typeof memory = {
      ...memory,
      put(into, id, document, condition) {
        if (into === index && left-- > 0) return Promise.reject(new VersionConflict(into, id))
        return memory.put(into, id, document, condition)
      },
    }
    const warnings: string[] = []
    const log: Log = { ...SILENT, warn: (_, message) => void warnings.push(message) }
    let told = 0
    const deps = {
      ...{ store, clock: createFakeClock(), log, calls: createOverlappingCalls(), onChanged: () => void told++ },
      planEscalation: () => Promise.reject(new Error('unexpected')),
    }
    const answer = await commentIncident(deps, { id: 'i1', note: { note: 'the pool is empty' } }, index)
    await memory.refresh(auditIndex('default'))
    const { total } = await memory.search({
      index: auditIndex('default'),
      body: { size: 0, track_total_hits: true, query: { match_all: {} } },
    })
    const owed = (await memory.get<TicketedIncident>(index, 'i1'))?.source.ticketing?.owed ?? []
    return { answer, total, told, warnings, owed: owed.map(({ event }) => event) }
  }

  it('is noted for its tickets, also where others write the incident meanwhile', async () => {
    const { answer, ...rest } = await comment(3)
    expect(answer?.incident.id).to.equal('i1')
    expect(rest).to.deep.equal({ total: 1, told: 1, warnings: [], owed: ['comment'] })
  })

  it('is answered, stands in the audit trail once, and says in the log that no ticket has it, where the incident changes too fast', async () => {
    const { answer, warnings, ...rest } = await comment(Number.POSITIVE_INFINITY)
    expect(answer?.incident.id).to.equal('i1')
    expect(rest).to.deep.equal({ total: 1, told: 0, owed: [] })
    expect(warnings.join()).to.include('stands in the audit trail alone')
  })
})
