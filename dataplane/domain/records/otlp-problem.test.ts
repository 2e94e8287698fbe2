import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findAttributesProblem, findRecordProblem } from './otlp-problem.ts'

function nested(levels: number): unknown {
  let value: unknown = { intValue: 1 }
  for (let i = 0; i < levels; i++) value = { arrayValue: { values: [value] } }
  return value
}

describe('a record that cannot be parsed', () => {
  const cases: readonly { name: string; record: unknown; expected: string | undefined }[] = [
    {
      name: 'a full one is fine',
      record: {
        timeUnixNano: '1',
        severityText: 'INFO',
        severityNumber: 9,
        body: { stringValue: '' },
        attributes: [{ key: 'a', value: { boolValue: true } }],
        traceId: '',
        spanId: '',
      },
      expected: undefined,
    },
    { name: 'an empty one is fine', record: {}, expected: undefined },
    { name: 'unknown fields are ignored', record: { colour: 1, body: { stringValue: 'x', colour: 2 } }, expected: undefined },
    { name: 'no object', record: 'x', expected: 'log record: expected an object, saw "x"' },
    { name: 'null', record: null, expected: 'log record: expected an object, saw null' },
    { name: 'a bare body', record: { body: 'x' }, expected: 'body: expected an AnyValue object, saw "x"' },
    { name: 'a string that is none', record: { body: { stringValue: 5 } }, expected: 'body: stringValue: expected a string, saw 5' },
    { name: 'attributes that are no list', record: { attributes: {} }, expected: 'attributes: expected an array, saw an object' },
    { name: 'an attribute that is none', record: { attributes: [{ key: 'a' }, 7] }, expected: 'attributes[1]: expected an object, saw 7' },
    { name: 'a key that is no string', record: { attributes: [{ key: 7 }] }, expected: 'attributes[0]: key: expected a string, saw 7' },
    {
      name: 'an integer that is none',
      record: { attributes: [{ key: 'a', value: { intValue: '1.5' } }] },
      expected: 'attributes[0]: intValue: expected a 64-bit integer, saw "1.5"',
    },
    {
      name: 'a double that is none',
      record: { attributes: [{ key: 'a', value: { doubleValue: 'many' } }] },
      expected: 'attributes[0]: doubleValue: expected a number, saw "many"',
    },
    { name: 'a trace id that is no string', record: { traceId: 5 }, expected: 'traceId: expected a string, saw 5' },
    {
      name: 'a severity number that is none',
      record: { severityNumber: 'ERROR' },
      expected: 'severityNumber: expected an integer, saw "ERROR"',
    },
    { name: '100-fold nesting is fine', record: { body: nested(99) }, expected: undefined },
    { name: 'deeper nesting', record: { body: nested(50_000) }, expected: 'nested deeper than 100 levels' },
  ]
  for (const { name, record, expected } of cases)
    it(name, () => {
      const problem = findRecordProblem(record)
      if (expected?.startsWith('nested')) expect(problem).to.contain(expected)
      else expect(problem).to.equal(expected)
    })

  it('names the attribute of a list', () => {
    expect(findAttributesProblem([{ key: 'a', value: { kvlistValue: { values: [{ key: 'b', value: 5 }] } } }])).to.equal(
      'attributes[0]: kvlistValue: expected an AnyValue object, saw 5',
    )
  })
})
