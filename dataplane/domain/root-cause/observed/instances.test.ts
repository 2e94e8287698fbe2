import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation } from '../../../testing/root-cause-fixture.ts'
import { findInstances, instanceOf } from './instances.ts'
import { observeSystem } from './observed-system.ts'

/** One record of `orders` from each of `instances`; an empty name is none. */
const heardFrom = (...instances: readonly string[]) =>
  finish(
    observeSystem(
      instances.map((instance, i) => observation({ timeMs: AT_MS + i, ...(instance !== '' && { instance }) })),
      AT_MS,
    ),
  )

/** The replica of the first `count` records. */
function replicaOf(count: number, ...instances: readonly string[]) {
  const system = heardFrom(...instances)
  return instanceOf(system.window.records.slice(0, count), 0, finish(findInstances(system)))
}

describe('the replica that shows a failure', () => {
  it('is the one that all records come from, where chance hardly shows as much', () => {
    expect(replicaOf(8, ...'aaaaaaaa', 'b')).to.equal('a')
    expect(replicaOf(7, ...'aaaaaaa', 'b')).to.equal(undefined)
    expect(replicaOf(4, ...'aaaa', ...'bcdefghij'), 'one of ten').to.equal('a')
  })

  it('is none where there are no others, or where records come from several or do not say', () => {
    expect(replicaOf(9, ...'aaaaaaaaa')).to.equal(undefined)
    expect(replicaOf(9, ...'aaaaaaaab', 'b')).to.equal(undefined)
    expect(replicaOf(9, ...'aaaaaaaa', '', 'b')).to.equal(undefined)
  })

  it('is not one of a caller', () => {
    const system = heardFrom(...'aaaaaaaa', 'b')
    expect(instanceOf(system.window.records.slice(0, 8), 1, new Map([[1, new Set(['a', 'b'])]]))).to.equal(undefined)
  })
})
