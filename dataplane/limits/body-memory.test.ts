import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type BodyLease, BodyMemory } from './body-memory.ts'

const ERRORS = { full: () => new Error('full'), slow: () => new Error('slow') }

describe('the memory of bodies that come', () => {
  function begin(memory: BodyMemory, source: string | undefined, bytes: number): { readonly lease: BodyLease; error?: Error } {
    const body: { readonly lease: BodyLease; error?: Error } = { lease: memory.lease(undefined, source) }
    body.lease.begin(error => {
      body.error = error
    })
    body.lease.grow(bytes)
    return body
  }
  const create = () => {
    const clock = { ms: 0 }
    return { clock, memory: new BodyMemory(1_000, ERRORS, () => clock.ms) }
  }

  it('goes from the address that has most of it to one that has much less, half a second after it was taken', () => {
    const { clock, memory } = create()
    const many = [200, 200, 200, 150].map(bytes => begin(memory, 'many', bytes))
    clock.ms = 499
    expect(() => begin(memory, 'one', 100)).to.throw('full')
    clock.ms = 500
    const one = begin(memory, 'one', 100)
    expect(many.map(({ error }) => error?.message)).to.deep.equal(['slow', undefined, undefined, undefined])
    one.lease.grow(150)
    expect(many.filter(({ error }) => error !== undefined)).to.have.length(2)
    // 250 of 600: no longer much less.
    expect(() => one.lease.grow(200)).to.throw('full')
    expect(one.error).to.equal(undefined)
  })

  it('does not go from one caller to the next of the same address, or of one that nobody knows', () => {
    const { clock, memory } = create()
    for (let k = 0; k < 3; k++) begin(memory, 'many', 240)
    clock.ms = 4_999
    expect(() => begin(memory, 'many', 100)).to.throw('full')
    expect(() => begin(memory, undefined, 100)).to.throw('full')
    clock.ms = 5_000
    begin(memory, 'many', 100)
  })

  it('is shared by addresses whose callers all come again at once', () => {
    const { clock, memory } = create()
    let answered = 0
    let many: ReturnType<typeof begin>[] = []
    for (let turn = 0; turn < 300; turn++) {
      clock.ms += 100
      many = many.filter(({ error }) => error === undefined)
      for (let k = 0; k < 200; k++)
        try {
          many.push(begin(memory, 'many', 50))
        } catch {
          break
        }
      if (turn < 10 || turn % 3 !== 0) continue
      try {
        begin(memory, 'one', 200).lease.release()
        answered++
      } catch {
        // Refused.
      }
    }
    expect(answered).to.be.above(80)
  })
})
