import { expect } from 'chai'
import { describe, it } from 'mocha'
import { CustomKeys } from './custom-keys.ts'

const DAY = '2026.11.22'

describe("custom keys of a tenant's day", () => {
  it('are admitted up to 300, and those once more', () => {
    const keys = new CustomKeys()
    for (let i = 0; i < 300; i++) expect(keys.admit('shop', DAY, `k${i}`)).to.equal(true)
    expect(keys.admit('shop', DAY, 'one more')).to.equal(false)
    expect(keys.admit('shop', DAY, 'k7')).to.equal(true)
    expect(keys.admit('other', DAY, 'one more')).to.equal(true)
  })

  it('are those that senders chose: of the pipeline’s own attributes none takes the place of one, and none is folded behind them', () => {
    const keys = new CustomKeys()
    const given = ['severity_text', 'otel.scope.name', 'otel.scope.version']
    for (const path of given) expect(keys.admit('shop', DAY, path), path).to.equal(true)
    for (let i = 0; i < 300; i++) expect(keys.admit('shop', DAY, `k${i}`), `k${i}`).to.equal(true)
    expect(keys.admit('shop', DAY, 'one more')).to.equal(false)
    for (const path of [...given, 'record.ordinal']) expect(keys.admit('shop', DAY, path), path).to.equal(true)
  })

  it('one that an admitted one continues, or that continues an admitted one, is not: OpenSearch would refuse each record that has it', () => {
    const keys = new CustomKeys()
    for (const key of ['error', 'user.id', 'a.b.c']) expect(keys.admit('shop', DAY, key), key).to.equal(true)
    for (const key of ['error.type', 'error.a.b', 'user', 'a', 'a.b', 'a.b.c.d']) expect(keys.admit('shop', DAY, key), key).to.equal(false)
    for (const key of ['errors', 'user.name', 'a.b.d', 'error', 'user.id']) expect(keys.admit('shop', DAY, key), key).to.equal(true)
    expect(keys.admit('shop', '2026.11.23', 'error.type')).to.equal(true)
    expect(keys.of('shop', DAY).size).to.equal(6)
  })

  it('that the index of the day has otherwise, as refusals of the store tell, are admitted for no tenant', () => {
    const keys = new CustomKeys()
    expect(keys.admit('shop', DAY, 'error.type')).to.equal(true)
    const [value, fields] = [
      '400 mapper_parsing_exception: Could not dynamically add mapping for field [error.type]. Existing mapping for [error] must be of type object but found [keyword].',
      '400 mapper_parsing_exception: object mapping for [user.of] tried to parse field [of] as object, but found a concrete value',
    ]
    expect([value, fields, value, fields].map(reason => keys.learn(DAY, reason))).to.deep.equal([true, true, false, false])
    for (const tenant of ['shop', 'other']) {
      for (const key of ['error.type', 'error.a.b', 'user.of']) expect(keys.admit(tenant, DAY, key), key).to.equal(false)
      for (const key of ['error', 'errors', 'user.of.it', 'user.name']) expect(keys.admit(tenant, '2026.11.23', key), key).to.equal(true)
    }
    for (const key of ['error', 'errors', 'user.of.it', 'user.name']) expect(keys.admit('other', DAY, key), key).to.equal(true)
    expect(keys.learn(DAY, "400 mapper_parsing_exception: failed to parse field [order] of type [long]: For input string: 'a'")).to.equal(
      false,
    )
  })

  it('are not those that a sender writes into a value, or into a name, for a refusal to tell', () => {
    const keys = new CustomKeys()
    const [told, mapping] = ['Existing mapping for [user] must be of type object but found [keyword].', '400 mapper_parsing_exception: ']
    for (const reason of [
      `${mapping}failed to parse field [order] of type [long]. Preview of field's value: '${told}'`,
      `${mapping}Could not dynamically add mapping for field [a]. Existing mapping for [user.x]. Existing mapping for [a]. ${told}`,
      `${mapping}Could not dynamically add mapping for field [a]. ${told}.x]. Existing mapping for [a] must be of type object but found [keyword].`,
      `${mapping}object mapping for [user] tried to parse field [id] as object, but found a concrete value] tried to parse field [a] as object, but found a concrete value`,
      `${mapping}failed to parse field [a] of type [long]: object mapping for [user.id] tried to parse field [id] as object, but found a concrete value`,
    ])
      expect(keys.learn(DAY, reason), reason).to.equal(false)
    expect(keys.admit('shop', DAY, 'user.id')).to.equal(true)
  })

  it('that refusals tell are remembered up to 1,000 of a day, and of 40 days', () => {
    const keys = new CustomKeys()
    const reason = (name: string) =>
      `400 mapper_parsing_exception: Could not dynamically add mapping for field [${name}.of]. Existing mapping for [${name}] must be of type object but found [keyword].`
    for (let i = 0; i < 1_000; i++) expect(keys.learn(DAY, reason(`k${i}`))).to.equal(true)
    expect(keys.learn(DAY, reason('one more'))).to.equal(false)
    for (let day = 0; day < 40; day++) keys.learn(`day ${day}`, reason('k'))
    expect(keys.admit('shop', DAY, 'k0.of')).to.equal(true)
    expect(keys.admit('shop', 'day 39', 'k.of')).to.equal(false)
  })

  it('are forgotten, of the tenant longest unused, beyond what memory is for', () => {
    const keys = new CustomKeys()
    keys.admit('first', DAY, 'key')
    for (let tenant = 0; tenant < 300; tenant++) for (let i = 0; i < 300; i++) keys.admit(`t${tenant}`, DAY, `${i}`.padStart(512, 'k'))
    expect(keys.of('t299', DAY).size).to.equal(300)
    expect(keys.of('t0', DAY).size).to.equal(0)
    expect(keys.of('first', DAY).size).to.equal(0)
  })
})
