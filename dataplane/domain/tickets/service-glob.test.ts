import { expect } from 'chai'
import { describe, it } from 'mocha'
import { matchesService } from './service-glob.ts'

describe('globs of services', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['checkout', 'checkout', true],
    ['checkout', 'checkout-api', false],
    ['checkout*', 'checkout-api', true],
    ['*', 'anything', true],
    ['*', '', true],
    ['', '', true],
    ['', 'x', false],
    ['*-api', 'checkout-api', true],
    ['*-api', 'checkout-api-2', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c', false],
    ['pay.ment', 'payXment', false],
    ['pay?', 'pays', true],
    ['pay?', 'pay', false],
    ['pay?', 'pay-s', false],
    ['?ay*', 'payment', true],
    ['*-?', 'api-22', false],
    ['*-?2', 'api-22', true],
    ['?', '😀', true],
    ['**x', 'ax', true],
  ]
  for (const [glob, service, expected] of cases)
    it(`${glob} ${expected ? 'names' : 'does not name'} ${JSON.stringify(service)}`, () =>
      expect(matchesService([glob], service)).to.equal(expected))

  it('one of several is enough, none names nothing', () => {
    expect(matchesService(['cart', 'pay*'], 'payment')).to.equal(true)
    expect(matchesService([], 'payment')).to.equal(false)
  })

  it('a glob of many stars takes no long time', () => {
    const startMs = performance.now()
    expect(matchesService(['*a'.repeat(100)], 'b'.repeat(1_000))).to.equal(false)
    expect(performance.now() - startMs).to.be.below(200)
  })
})
