import { expect } from 'chai'
import { describe, it } from 'mocha'
import { foldAttribute } from './folded-attribute.ts'

const MAX_TERM_BYTES = 32_766

describe('an attribute in the flat_object field attributes', () => {
  it('stands there under its key, as it is', () => {
    expect(foldAttribute('service.version', '"1.0"')).to.deep.equal([['service.version', '"1.0"']])
  })

  it('whose key no term can hold is cut with a digest of it, and the whole key stands beside', () => {
    const key = 'é'.repeat(20_000)
    const [[name, value], [keyName, whole]] = foldAttribute(key, '1') as [[string, string], [string, string]]
    expect(name).to.match(/^é{1000}~[0-9a-f]{16}$/)
    expect(value).to.equal('1')
    expect(keyName).to.equal(`${name}.key`)
    expect((JSON.parse(whole) as string[]).join('')).to.equal(key)
    expect(foldAttribute(`${key}x`, '1')[0]![0], 'keys that start alike stay apart').not.to.equal(name)
  })

  it('that is a list whose objects have such keys becomes its JSON text', () => {
    const json = JSON.stringify([{ ['k'.repeat(MAX_TERM_BYTES)]: 1 }])
    const [[name, value]] = foldAttribute('a', json) as [[string, string]]
    expect(name).to.equal('a')
    expect((JSON.parse(value) as string[]).join('')).to.equal(json)
  })
})
