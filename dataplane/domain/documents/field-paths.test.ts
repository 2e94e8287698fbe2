import { expect } from 'chai'
import { describe, it } from 'mocha'
import { fieldPaths, holdsObjects } from './field-paths.ts'

describe('the fields that a custom attribute brings into the index', () => {
  const cases = [
    { name: 'a scalar one', json: '"{x"', expected: ['a'] },
    { name: 'a list of scalars one', json: '[1,2]', expected: ['a'] },
    { name: 'a list of objects one for each leaf, each once', json: '[{"b":1,"c":{"d":2}},[{"b":3}]]', expected: ['a.b', 'a.c.d'] },
    { name: 'scalars beside objects the list itself', json: '[1,{"b":null}]', expected: ['a', 'a.b'] },
    { name: 'empty objects none', json: '[{}]', expected: [] },
  ]
  for (const { name, json, expected } of cases) it(name, () => expect(fieldPaths('a', json)).to.deep.equal(expected))

  it('are told by the key alone unless it is a list with objects in it', () => {
    expect(holdsObjects('[{"b":1}]')).to.equal(true)
    for (const json of ['"[{"', '{"b":1}', '[1]']) expect(holdsObjects(json), json).to.equal(false)
  })
})
