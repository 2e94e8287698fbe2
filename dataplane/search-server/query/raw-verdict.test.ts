import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { analyze } from '../analysis/standard-analyzer.ts'
import type { Condition } from './condition.ts'
import type { Field } from './field.ts'
import { matches } from './matches.ts'
import { rawTest } from './raw-verdict.ts'
import { wildcardPattern } from './term-pattern.ts'

const MESSAGE: Field = { path: 'message', type: 'text', sourcePath: ['message'], ignoreAbove: Number.POSITIVE_INFINITY, isIndexed: true }

const piece = fc.constantFrom(
  'disk',
  'Full',
  'FULL',
  'a',
  'b',
  '1',
  '5',
  '_',
  ' ',
  '  ',
  '.',
  ',',
  "'",
  ':',
  '-',
  '"',
  '\\',
  '\n',
  'é',
  '\u212a',
  '{',
  '}',
  'message',
)
const text = fc.array(piece, { maxLength: 12 }).map(parts => parts.join(''))
const document = fc.oneof(
  fc.record({ message: text, note: text }, { requiredKeys: [] }),
  fc.record({ message: fc.array(text, { maxLength: 3 }) }),
  fc.record({ attributes: fc.record({ message: text }), message: text }, { requiredKeys: ['attributes'] }),
)
const words = fc.array(fc.constantFrom('disk', 'full', 'a', 'b', '1', '5'), { minLength: 2, maxLength: 3 })
const pattern = fc.constantFrom('di*', '*ull', 'f?ll', '*k*', '*message*')

function check(condition: Condition, source: object): void {
  const verdict = rawTest(condition)?.(Buffer.from(JSON.stringify(source))) ?? 'unsure'
  if (verdict === 'unsure') return
  expect(verdict === 'yes', `${JSON.stringify(condition)} ${JSON.stringify(source)}`).to.equal(matches(condition, { id: '', source }))
}

describe('the look at raw bytes', () => {
  it('never contradicts the parsed document: phrases', () => {
    fc.assert(
      fc.property(document, words, (source, list) =>
        check({ op: 'phrase', field: MESSAGE, words: list, slop: 0, lastIsPrefix: false }, source),
      ),
      { numRuns: 5000, seed: 1 },
    )
  })

  it('never contradicts the parsed document: patterns', () => {
    fc.assert(
      fc.property(document, pattern, (source, glob) =>
        check({ op: 'pattern', field: MESSAGE, pattern: wildcardPattern(glob, false) }, source),
      ),
      { numRuns: 5000, seed: 2 },
    )
  })

  it('settles plain text', () => {
    const phrase: Condition = { op: 'phrase', field: MESSAGE, words: analyze('disk full'), slop: 0, lastIsPrefix: false }
    const verdict = (message: string) => rawTest(phrase)!(Buffer.from(JSON.stringify({ level: 'ERROR', message, attributes: { a: 1 } })))
    expect(verdict('the Disk full again')).to.equal('yes')
    expect(verdict('full disk')).to.equal('no')
    expect(verdict('disk-full')).to.equal('unsure')
    expect(rawTest({ op: 'not', of: phrase })!(Buffer.from('{"message":"full disk"}'))).to.equal('yes')
  })
})
