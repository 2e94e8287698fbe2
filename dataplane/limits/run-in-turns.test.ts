import { expect } from 'chai'
import { describe, it } from 'mocha'
import { runInTurns } from './run-in-turns.ts'

describe('work in turns', () => {
  it('lets others run between, and gives the result', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    function* work() {
      const end = performance.now() + 150
      while (performance.now() < end) yield
      return 'done'
    }
    expect(await runInTurns(work())).to.equal('done')
    clearInterval(timer)
    expect(turns).to.be.above(2)
  })
})
