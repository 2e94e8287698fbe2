import { expect } from 'chai'
import { describe, it } from 'mocha'
import { unsupportedProduct } from './supported-product.ts'

describe('which search stores are supported', () => {
  for (const version of ['2.7.0', '2.19.3', '3.5.0', '4.0.0-SNAPSHOT'])
    it(`OpenSearch ${version} is`, () => expect(unsupportedProduct('opensearch', version)).to.equal(undefined))

  for (const version of ['1.3.20', '2.6.0', 'unknown'])
    it(`OpenSearch ${version} is not`, () => expect(unsupportedProduct('opensearch', version)).to.contain(version).and.to.contain('2.7'))

  it('Elasticsearch is not', () => expect(unsupportedProduct(undefined, '8.15.0')).to.contain('8.15.0').and.to.contain('not OpenSearch'))
})
