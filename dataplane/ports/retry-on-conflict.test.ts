import { expect } from 'chai'
import { retryOnConflict } from './retry-on-conflict.ts'
import { VersionConflict } from './search-store.ts'

describe('a write that another writer may overtake', () => {
  const conflict = new VersionConflict('index', 'id')

  it('is tried again after each conflict, and is told how many there were', async () => {
    const seen: number[] = []
    const result = await retryOnConflict(async conflicts => {
      seen.push(conflicts)
      if (conflicts < 2) throw conflict
      return 'written'
    })
    expect(result).to.equal('written')
    expect(seen).to.deep.equal([0, 1, 2])
  })

  it('ends with the conflict when others are first all the time', async () => {
    let attempts = 0
    const outcome = await retryOnConflict(async () => {
      attempts++
      throw conflict
    }).catch(error => error)
    expect(outcome).to.equal(conflict)
    expect(attempts).to.equal(20)
  })

  it('ends with the first error of another kind', async () => {
    let attempts = 0
    const outcome = await retryOnConflict(async () => {
      attempts++
      throw new Error('the store is away')
    }).catch(error => error)
    expect(outcome.message).to.equal('the store is away')
    expect(attempts).to.equal(1)
  })
})
