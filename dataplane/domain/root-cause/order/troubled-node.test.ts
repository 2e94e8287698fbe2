import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, observation, rootCauseOf } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'

const NODES = ['node-a', 'node-b', 'node-c']

/** Fifteen minutes and three: each service says one line every three seconds, by turns from three nodes. */
function shopOf(change: (record: Observation, minute: number) => Observation | undefined): readonly Observation[] {
  return ['orders', 'payments', 'mailer'].flatMap(service =>
    Array.from({ length: 360 }, (_, i) => {
      const minute = -15 + i / 20
      const record = observation({
        service,
        pattern: 'done',
        timeMs: AT_MS + minute * 60_000,
        node: NODES[i % 3]!,
        logId: `${service} ${i}`,
      })
      return minute < 0 ? record : change(record, minute)
    }).filter(record => record !== undefined),
  )
}

const failing = (record: Observation): Observation => ({ ...record, isError: true, pattern: 'read failed', template: 'read failed' })

describe('the node on which services fail', () => {
  it('is told where nearly all of their errors are written there', () => {
    const { summary } = rootCauseOf(shopOf(each => (each.node === 'node-b' && each.service !== 'mailer' ? failing(each) : each)))
    expect(summary).to.match(
      /^Most likely orders: “read failed” is a new error: 20 times, never before, all on node node-b, as are those of payments;/,
    )
  })

  it('is told where they are hardly heard from it', () => {
    const { summary } = rootCauseOf(shopOf(each => (each.node === 'node-b' && each.service !== 'mailer' ? undefined : each)))
    expect(summary).to.contain('while it and payments are hardly heard from node node-b')
  })

  it('is not told where few requests, of many lines each, come to other nodes by chance', () => {
    const requests = ['orders', 'payments'].flatMap(service =>
      Array.from({ length: 66 }, (_, i) => {
        const isAfter = i >= 60
        const node = NODES[isAfter ? 2 * (i % 2) : i % 3]!
        const startMs = AT_MS + (isAfter ? 5_000 + (i - 60) * 20_000 : (i - 60) * 15_000)
        return Array.from({ length: 12 }, (_, line) =>
          observation({
            ...{ service, node, traceId: `${service} ${i}`, pattern: `step ${'abcdefghijkl'[line]}`, timeMs: startMs + line * 10 },
            ...(isAfter && service === 'orders' && line === 11 && { isError: true, pattern: 'read failed' }),
            logId: `${service} ${i} ${line}`,
          }),
        )
      }).flat(),
    )
    const { summary } = rootCauseOf(requests)
    expect(summary)
      .to.match(/^Most likely orders: “read failed”/)
      .and.not.contain(' node ')
  })

  it('is not told of one service, of errors of all nodes, and where less is heard of everybody', () => {
    for (const change of [
      (each: Observation) => (each.node === 'node-b' && each.service === 'orders' ? failing(each) : each),
      (each: Observation) => (each.service === 'mailer' ? each : failing(each)),
      (each: Observation, minute: number) => (minute < 1 ? each : undefined),
    ])
      expect(rootCauseOf(shopOf(change)).summary).to.not.contain(' node ')
  })
})
