import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  MAX_REPEATED_ATTRIBUTE_BYTES,
  MAX_SMALL_SHARED_BYTES,
  Repetition,
  scopeAttributes,
  shareResource,
  shareScope,
} from './shared-attributes.ts'

const attributes = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `key.${i}`, value: { stringValue: 'x'.repeat(length) } }))

describe('attributes of resource and scope, which all their records share', () => {
  it('of a scope are its name and version, too', () => {
    const scope = { name: 'io.acme', version: '2', attributes: [{ key: 'a', value: { intValue: '1' } }] }
    expect([...scopeAttributes(scope)]).to.deep.equal([
      ['otel.scope.name', '"io.acme"'],
      ['otel.scope.version', '"2"'],
      ['a', '1'],
    ])
    expect(shareScope(undefined).all.size).to.equal(0)
  })

  it('stand in every record while they are small', () => {
    const { repeated } = shareResource({ attributes: attributes(10, 20) })
    const repetition = new Repetition()
    expect(repeated.bytes).to.be.at.most(MAX_SMALL_SHARED_BYTES)
    for (let record = 0; record < 100_000; record++) expect(repetition.take(repeated)).to.equal(true)
  })

  it('stand in so many records of a message as come to the bound when they are large, and in part in the others, with a note', () => {
    const resource = shareResource({ attributes: attributes(100, 1_000) })
    const repetition = new Repetition()
    let whole = 0
    while (repetition.take(resource.repeated)) whole++
    expect(whole * resource.repeated.bytes).to.be.within(MAX_REPEATED_ATTRIBUTE_BYTES * 0.8, MAX_REPEATED_ATTRIBUTE_BYTES)
    const part = resource.part()
    expect(part.size).to.be.within(2, 99)
    expect(part.get('logpipeline.cut.resource')).to.contain(`${101 - part.size} of 100 attributes of the resource are left out`)
  })

  it('have one digest, whether a record has all of them or a part', () => {
    const resource = shareResource({ attributes: attributes(100, 1_000) })
    const { digest } = resource
    resource.part()
    expect(resource.digest).to.equal(digest)
    expect(shareResource({ attributes: attributes(100, 1_000).toReversed() }).digest).to.equal(digest)
  })
})
