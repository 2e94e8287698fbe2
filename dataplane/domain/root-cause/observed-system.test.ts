import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation } from '../../testing/root-cause-fixture.ts'
import { observeSystem } from './observed-system.ts'

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
})
