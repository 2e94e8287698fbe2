import { expect } from 'chai'
import { describe, it } from 'mocha'
import { verdictSchema } from './verdict-schema.ts'

describe('the schema of a verdict', () => {
  it('allows candidates and ids that exist, and unknown', () => {
    const schema = verdictSchema(['a', 'b'], ['E1']) as { properties: { rootCause: object }; required: readonly string[] }
    expect(schema.required).to.deep.equal(['summary', 'rootCause', 'hypotheses', 'confidence', 'nextSteps'])
    expect(schema.properties.rootCause).to.deep.equal({
      type: 'object',
      properties: {
        service: { type: 'string', enum: ['a', 'b', 'unknown'] },
        evidenceIds: { type: 'array', items: { type: 'string', enum: ['E1'] } },
      },
      required: ['service', 'evidenceIds'],
      additionalProperties: false,
    })
  })

  it('has nothing that strict modes refuse: every object is closed and needs all of its fields', () => {
    const check = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { type, properties, required, additionalProperties } = schema as Record<string, unknown>
      if (type === 'object') {
        expect(additionalProperties).to.equal(false)
        expect(required).to.deep.equal(Object.keys(properties as object))
      }
      for (const word of ['minLength', 'maxLength', 'maxItems', 'pattern', 'minimum']) expect(schema).to.not.have.property(word)
      Object.values(schema).forEach(check)
    }
    check(verdictSchema(['unknown'], []))
  })
})
