import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findQuoted } from './quoted-errors.ts'

describe('errors that repeat those of other services', () => {
  const quoted = (...texts: readonly string[]) => findQuoted(texts.map((text, service) => ({ service, text })))

  it('belong to the service whose error is repeated, of a chain to its end', () => {
    expect(quoted('ERROR: deadlock detected', 'not saved; caused by: Deadlock detected')).to.deep.equal([undefined, 0])
    expect(quoted('stock is negative', 'no seat: stock is negative', 'no order: no seat: stock is negative')).to.deep.equal([
      undefined,
      0,
      0,
    ])
  })

  it('belong to the database also where its log tells the place in the statement', () => {
    expect(
      quoted('ERROR: column total does not exist at character 41', 'no order: column total does not exist (SQLSTATE 42703)'),
    ).to.deep.equal([undefined, 0])
  })

  it('equal texts, short ones and those of the same service tell nothing', () => {
    expect(quoted('stock is negative', 'stock is negative')).to.deep.equal([undefined, undefined])
    expect(quoted('failed', 'it failed')).to.deep.equal([undefined, undefined])
    expect(
      findQuoted([
        { service: 1, text: 'stock is negative' },
        { service: 1, text: 'no seat: stock is negative' },
      ]),
    ).to.deep.equal([undefined, undefined])
  })
})
