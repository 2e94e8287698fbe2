import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type HostileOtlpRequest, hostileOtlpRequests } from './otlp-requests.ts'

function take(seed: number, count: number): HostileOtlpRequest[] {
  const requests: HostileOtlpRequest[] = []
  for (const request of hostileOtlpRequests(seed)) {
    requests.push(request)
    if (requests.length === count) break
  }
  return requests
}

describe('hostile requests to the collector', () => {
  it('are the same for the same seed, and others for another', () => {
    const [one, again, other] = [take(1, 100), take(1, 100), take(2, 100)]
    expect(again).to.deep.equal(one)
    expect(other).not.to.deep.equal(one)
  })

  it('come through every door, in every form, of at most about a megabyte, most of them small', () => {
    const requests = take(3, 1_000)
    expect(new Set(requests.map(({ door }) => door)).size).to.equal(3)
    expect(new Set(requests.map(({ contentEncoding }) => contentEncoding)).size).to.be.above(5)
    expect(new Set(requests.map(({ note }) => note)).size).to.be.above(300)
    const sizes = requests.map(({ body }) => body.length)
    expect(Math.max(...sizes)).to.be.below(1.2e6)
    expect(sizes.reduce((sum, size) => sum + size) / sizes.length).to.be.below(50_000)
  })
})
