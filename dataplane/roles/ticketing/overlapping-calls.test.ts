import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createOverlappingCalls } from './overlapping-calls.ts'

describe('calls that overlap', () => {
  it('lose once another one has won, also those that come before it has ended, and no later ones', async () => {
    const calls = createOverlappingCalls()
    const seen: boolean[] = []
    const watch = (incident: string) => calls.run(incident, async call => void seen.push(call.isOvertaken))
    await calls.run('i1', async early => {
      await calls.run('i1', async winner => {
        winner.won()
        expect(winner.isOvertaken).to.equal(false)
        expect(early.isOvertaken).to.equal(true)
        await watch('i1')
        await watch('i2')
      })
      await watch('i1')
    })
    expect(seen).to.deep.equal([true, false, false])
  })

  it('that fail leave nothing behind', async () => {
    const calls = createOverlappingCalls()
    await calls
      .run('i1', async call => {
        call.won()
        throw new Error('no')
      })
      .catch(() => undefined)
    expect(await calls.run('i1', async ({ isOvertaken }) => isOvertaken)).to.equal(false)
  })
})
