import { expect } from 'chai'
import { describe, it } from 'mocha'
import { changeInBatches } from './change-in-batches.ts'

const ids = Array.from({ length: 1_200 }, (_, i) => `i${i}`)
const explain = (error: unknown) => (error as Error).message

describe('a change of many incidents', () => {
  it('is sent in batches, whose answers are added up', async () => {
    const sizes: number[] = []
    const answer = await changeInBatches(
      ids,
      async batch => {
        sizes.push(batch.length)
        return { updated: batch.length - 1, skipped: [{ id: batch[0]!, reason: 'it is resolved' }] }
      },
      explain,
    )
    expect(sizes).to.deep.equal([500, 500, 200])
    expect([answer.updated, answer.skipped.length]).to.deep.equal([1_197, 3])
  })

  it('tells what was done before a batch failed', async () => {
    let calls = 0
    const change = async (batch: readonly string[]) => {
      if (++calls === 2) throw new Error('the ticketing agent cannot be reached')
      return { updated: batch.length, skipped: [] }
    }
    const { updated, skipped } = await changeInBatches(ids, change, explain)
    expect([updated, skipped.length, calls]).to.deep.equal([500, 700, 2])
    expect(new Set(skipped.map(({ reason }) => reason))).to.deep.equal(new Set(['the ticketing agent cannot be reached']))
  })

  it('fails where nothing was done', async () => {
    const failure = await changeInBatches(ids, () => Promise.reject(new Error('away')), explain).catch((error: Error) => error.message)
    expect(failure).to.equal('away')
  })
})
