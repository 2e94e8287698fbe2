import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DeadDocuments } from './dead-documents.ts'

const DOCS = 57_344

describe('the dead documents of a segment', () => {
  it('take no memory before the first deletion: an index of a day has thousands of segments', () => {
    const dead = new DeadDocuments(DOCS)
    expect([dead.has(0), dead.has(DOCS - 1), [...dead], dead.count]).to.deep.equal([false, false, [], 0])
    expect(dead.memoryBytes).to.equal(0)
  })

  it('take a bit for each document of the segment from then on, and are read back as they were', () => {
    const dead = new DeadDocuments(DOCS)
    for (const doc of [7, 8, DOCS - 1]) dead.add(doc)
    expect(dead.memoryBytes).to.equal(DOCS / 8)
    const copy = DeadDocuments.of(dead.toBytes())
    expect([[...copy], copy.count, copy.memoryBytes]).to.deep.equal([[7, 8, DOCS - 1], 3, DOCS / 8])
  })

  it('grow with a segment that still takes documents', () => {
    const dead = new DeadDocuments(0)
    for (const doc of [3, 900, 40_000]) dead.add(doc)
    expect([[...dead], dead.count]).to.deep.equal([[3, 900, 40_000], 3])
  })
})
