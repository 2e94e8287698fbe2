import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TicketingRouteStatus } from '../../api/status.ts'
import { type AgentCounts, countDispatches, type TargetCounts } from './dispatch-counts.ts'

const EARLY = '2026-01-01T00:00:00Z'
const LATE = '2026-01-01T09:00:00Z'

const agent = (pod: string, counts: Partial<TargetCounts>, since = EARLY, target = 'slack'): AgentCounts => ({
  pod,
  since,
  targets: new Map([[target, { dispatched: 0, failed: 0, ...counts }]]),
})

/** Looks one after the other, each with the status that the last one wrote. */
function look(looks: readonly (readonly AgentCounts[])[], options: { target?: string; there?: readonly string[] } = {}) {
  const { target = 'slack', there } = options
  let status: TicketingRouteStatus = { target }
  for (const agents of looks) {
    const isThere = (pod: string) => there?.includes(pod) ?? true
    status = { target, ...countDispatches({ before: status, target, agents, isThere }) }
  }
  return status
}

const sums = ({ dispatched, failed }: TicketingRouteStatus) => [dispatched, failed]

describe('dispatches of a route', () => {
  it('are zero before anything was sent, and note no pods', () => {
    expect(look([[], [agent('a', {})]])).to.deep.equal({ target: 'slack', dispatched: 0, failed: 0 })
  })

  it('are the sum over all pods, and grow as these do', () => {
    expect(sums(look([[agent('a', { dispatched: 2 }), agent('b', { dispatched: 3, failed: 1 })]]))).to.deep.equal([5, 1])
    const more = [agent('a', { dispatched: 4 }), agent('b', { dispatched: 3, failed: 2 })]
    expect(sums(look([[agent('a', { dispatched: 2 }), agent('b', { dispatched: 3, failed: 1 })], more, more]))).to.deep.equal([7, 2])
  })

  it('do not fall when a pod goes, or its counters begin anew with another process', () => {
    const first = [agent('a', { dispatched: 5 }), agent('b', { dispatched: 1 })]
    expect(sums(look([first, [agent('b', { dispatched: 2 })]], { there: ['b'] }))).to.deep.equal([7, 0])
    expect(sums(look([first, [agent('a', { dispatched: 7 }, LATE), agent('b', { dispatched: 1 })]]))).to.deep.equal([13, 0])
    expect(sums(look([[agent('a', { dispatched: 5 }, '')], [agent('a', { dispatched: 2 }, '')]]))).to.deep.equal([7, 0])
  })

  it('count nothing twice of a pod that did not answer for a while, and forget pods that are gone', () => {
    const a = [agent('a', { dispatched: 5 })]
    expect(sums(look([a, [], a]))).to.deep.equal([5, 0])
    expect(look([a, []], { there: [] })).to.deep.equal({ target: 'slack', dispatched: 5, failed: 0 })
  })

  it('leave out what another target has counted, also once the route becomes one of it', () => {
    const other = agent('a', { dispatched: 9 }, EARLY, 'slack:payments')
    expect(sums(look([[other]]))).to.deep.equal([0, 0])
    const moved = countDispatches({
      before: { target: 'slack', dispatched: 2, failed: 0 },
      target: 'slack:payments',
      agents: [other],
      isThere: () => true,
    })
    expect(moved).to.deep.equal({ dispatched: 2, failed: 0, counted: [{ pod: 'a', since: EARLY, dispatched: 9, failed: 0 }] })
  })

  it('have the time of the last of them, in whole seconds, which never goes back', () => {
    const at = (time: string) => ({ dispatched: 1, lastDispatchMs: Date.parse(time) })
    const both = [agent('a', at('2026-01-01T10:00:00.900Z')), agent('b', at('2026-01-01T09:00:00Z'))]
    expect(look([both]).lastDispatchTime).to.equal('2026-01-01T10:00:00Z')
    expect(look([both, [agent('b', at('2026-01-01T09:30:00Z'))]]).lastDispatchTime).to.equal('2026-01-01T10:00:00Z')
  })
})
