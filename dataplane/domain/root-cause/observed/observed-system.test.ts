import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { observeSystem, orderRecords, recordsBefore, splitAt } from './observed-system.ts'

const at = (seconds: number) => AT_MS + seconds * 1_000

describe('records as requests and visits', () => {
  it('records of a trace are a request, those of one service and span in it a visit', () => {
    const system = finish(
      observeSystem(
        [
          observation({ timeMs: at(3), traceId: 't', spanId: 'b', service: 'orders', pattern: 'stored' }),
          observation({ timeMs: at(1), traceId: 't', spanId: 'a', service: 'gateway', pattern: 'received' }),
          observation({ timeMs: at(2), traceId: 't', spanId: 'b', service: 'orders', pattern: 'checked' }),
          observation({ timeMs: at(4), pattern: 'alone' }),
        ],
        AT_MS,
      ),
    )
    const { requests, untraced } = system.window
    expect(requests).to.have.length(1)
    expect(requests[0]!.visits.map(({ type, records }) => [type.pattern, records.length])).to.deep.equal([
      ['received', 1],
      ['checked', 2],
    ])
    expect(untraced.map(({ kind }) => kind.pattern)).to.deep.equal(['alone'])
  })

  it('the window begins at its time; records without a finite time are left out', () => {
    const { baseline, window } = finish(
      observeSystem(
        [at(-1), at(0), Number.NaN].map(timeMs => observation({ timeMs })),
        AT_MS,
      ),
    )
    expect([baseline.untraced.length, window.untraced.length]).to.deep.equal([1, 1])
    expect([baseline.lastMs, window.firstMs]).to.deep.equal([at(-1), at(0)])
  })

  it('warnings are statements of their own, also where other lines have their form', () => {
    const line = (timeMs: number, more = {}) => observation({ timeMs, pattern: 'msg=<*>', logId: `${timeMs}`, ...more })
    const { kinds } = finish(observeSystem([line(at(-2)), line(at(1)), line(at(2), { isWarning: true })], AT_MS))
    expect(kinds.map(({ isWarning }) => isWarning)).to.deep.equal([false, true])
  })

  it('may be put in order once for systems that begin and end at different times', () => {
    const late = [{ service: 'stock', says: 'shelf counted', afterMs: 3 }, ...USUAL]
    const observations = [
      ...traffic({ from: -1, to: 1, perMinute: 20, lines: () => USUAL }),
      ...traffic({ from: 1, to: 2, perMinute: 20, lines: () => late }),
    ].reverse()
    const ordered = finish(orderRecords(observations))
    for (const [atMinutes, toMinutes] of [
      [0, 0.99],
      [-0.5, 1.5],
      [1, 5],
      [0, -3],
    ] as const) {
      const [atMs, toMs] = [at(60 * atMinutes), at(60 * toMinutes)]
      const system = finish(splitAt(finish(recordsBefore(ordered, toMs)), atMs))
      expect(system).to.deep.equal(
        finish(
          observeSystem(
            observations.filter(({ timeMs }) => timeMs < toMs),
            atMs,
          ),
        ),
      )
    }
  })
})
