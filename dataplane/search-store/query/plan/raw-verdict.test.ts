import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { analyze } from '../../analysis/standard-analyzer.ts'
import { prefixPattern, type TermPattern, wildcardPattern } from '../../analysis/term-pattern.ts'
import { parseWritten } from '../../json/exact-numbers.ts'
import type { Condition } from '../bind/condition.ts'
import type { Field } from '../bind/field.ts'
import { matches } from '../run/matches.ts'
import { type RawDocument, rawTest } from './raw-verdict.ts'

const MESSAGE: Field = {
  path: 'message',
  type: 'text',
  sourcePath: ['message'],
  ignoreAbove: Number.POSITIVE_INFINITY,
  isIndexed: true,
  hasNanos: false,
  isAddress: false,
  kept: undefined,
}

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
const words = fc.array(fc.constantFrom('disk', 'full', 'a', 'b', '1', '5', '1,5', 'a.b', '_a', 'é', 'messagefull'), {
  minLength: 1,
  maxLength: 3,
})
const pattern = fc.constantFrom('di*', '*ull', 'f?ll', '*k*', '*message*')

const rawDocument = (source: Readonly<Record<string, unknown>>, text?: Uint8Array): RawDocument => ({
  source: () => Buffer.from(JSON.stringify(source)),
  sourceOf: member =>
    Buffer.from(JSON.stringify(member !== 'message' && typeof source['message'] === 'string' ? { ...source, message: '' } : source)),
  text: member => (member === 'message' ? text : undefined),
})

/** As it stands in the JSON. */
function storedMessage(source: Record<string, unknown>): Buffer | undefined {
  const message = typeof source.message === 'string' ? JSON.stringify(source.message) : undefined
  return message === undefined ? undefined : Buffer.from(message.slice(1, -1))
}

function check(condition: Condition, source: Record<string, unknown>): void {
  const expected = matches(condition, { id: '', source })
  const label = `${JSON.stringify(condition)} ${JSON.stringify(source)}`
  const verdict = rawTest(condition)?.(rawDocument(source)) ?? 'unsure'
  if (verdict !== 'unsure') expect(verdict === 'yes', label).to.equal(expected)
  const text = storedMessage(source)
  if (text !== undefined) expect(rawTest(condition)!(rawDocument(source, text)), `${label}, text apart`).to.equal(expected ? 'yes' : 'no')
}

describe('the look at raw bytes', () => {
  it('never contradicts the parsed document: phrases', () => {
    fc.assert(
      fc.property(document, words, fc.constantFrom(0, 0, 2), fc.boolean(), (source, list, slop, lastIsPrefix) =>
        check({ op: 'phrase', field: MESSAGE, words: list, slop, lastIsPrefix }, source),
      ),
      { numRuns: rounds(5000), seed: 1 },
    )
  })

  it('never contradicts the parsed document: patterns', () => {
    fc.assert(
      fc.property(document, pattern, (source, glob) => check({ op: 'pattern', field: MESSAGE, pattern: wildcardPattern(glob) }, source)),
      { numRuns: rounds(5000), seed: 2 },
    )
  })

  const key = fc.string({ unit: fc.constantFrom('0', 'a', 'f', '"', '\\', 'é', '\u0001'), maxLength: 6 })
  const traced = fc.record(
    { message: text, trace_id: fc.oneof(key, fc.constant(null), fc.array(key, { maxLength: 2 })), note: text },
    { requiredKeys: [] },
  )
  const TRACE: Field = { ...MESSAGE, path: 'trace_id', type: 'keyword', sourcePath: ['trace_id'], ignoreAbove: 4 }
  const checkRaw = (condition: Condition, source: Record<string, unknown>) => {
    const verdict = rawTest(condition)?.(rawDocument(source)) ?? 'unsure'
    if (verdict !== 'unsure') expect(verdict === 'yes', JSON.stringify(source)).to.equal(matches(condition, { id: '', source }))
    return verdict
  }

  it('never contradicts the parsed document: keywords in a range, with a prefix, or at all', () => {
    const below: TermPattern = { prefix: '', literal: '', test: term => term < 'a' }
    const verdicts = new Set<string>()
    fc.assert(
      fc.property(traced, source => {
        for (const pattern of [below, prefixPattern('a', false), wildcardPattern('*f', { caseInsensitive: true })])
          verdicts.add(checkRaw({ op: 'pattern', field: TRACE, pattern }, source))
        checkRaw({ op: 'exists', field: TRACE }, source)
      }),
      { numRuns: rounds(5000), seed: 3 },
    )
    expect([...verdicts].sort()).to.deep.equal(['no', 'unsure', 'yes'])
  })

  it('never contradicts the parsed document: values of a flat_object', () => {
    const LABELS: Field = { ...MESSAGE, path: 'labels', type: 'flat_object', sourcePath: ['labels'] }
    const value = fc.oneof(
      text,
      key,
      fc.constantFrom('disk', 'Infinity', 'true', 'a/b', true, false, 1e21, 0.5, 17, 1.7e-7, 2 ** 53, null, '\ud800'),
    )
    const labelled = fc.record({
      labels: fc.dictionary(key, fc.oneof(value, fc.array(value), fc.dictionary(key, value))),
      message: text,
      note: text,
    })
    const term = fc.constantFrom(
      ...['disk', 'Full', 'true', 'Infinity', 'a/b', 'a', 'é', '1', '0.5', '17', '-0', '1e+21', '1.7e-7', '9007199254740992', 'message'],
      ...['"', '\\', '\n', '', '\ufffd', '\ud800'],
    )
    const verdicts = new Set<string>()
    fc.assert(
      fc.property(labelled, fc.uniqueArray(term, { minLength: 1, maxLength: 2 }), (source, terms) => {
        verdicts.add(checkRaw({ op: 'terms', field: LABELS, terms: new Set(terms) }, source))
      }),
      { numRuns: rounds(5000), seed: 4 },
    )
    expect([...verdicts].sort()).to.deep.equal(['no', 'unsure'])
  })

  it('knows that no value of a flat_object is a number, an address or a word of another language', () => {
    const labels: Field = { ...MESSAGE, path: 'labels', type: 'flat_object', sourcePath: ['labels'] }
    for (const term of ['17', '10.0.0.1', '-5', 'é', '{'])
      expect(checkRaw({ op: 'terms', field: labels, terms: new Set([term]) }, { labels: { a: 'disk', b: [18, 0.5] } })).to.equal(
        term === '{' ? 'unsure' : 'no',
      )
  })

  it('never contradicts the parsed document: numbers as they are written', () => {
    const labels: Field = { ...MESSAGE, path: 'labels', type: 'flat_object', sourcePath: ['labels'] }
    const numbers = ['1e1', '10', '1.0', '10.50', '-0', '0.00000017', '1.7e-7', '9007199254740993', '1E+21', '1e21']
    for (const number of numbers)
      for (const term of [...numbers, '1', '10.5', '0', '9007199254740992', '1e+21']) {
        const text = `{"labels":{"a":[ ${number}]}}`
        const condition: Condition = { op: 'terms', field: labels, terms: new Set([term]) }
        const verdict = rawTest(condition)!({ source: () => Buffer.from(text), sourceOf: () => Buffer.from(text), text: () => undefined })
        const isFound = matches(condition, { id: '', source: parseWritten(text) })
        expect(verdict, `${term} in ${text}`).to.be.oneOf(['unsure', isFound ? 'yes' : 'no'])
      }
  })

  it('knows a document that has no such member from its bytes', () => {
    const below: TermPattern = { prefix: '', literal: '', test: term => term < 'a' }
    for (const condition of [{ op: 'pattern', field: TRACE, pattern: below } as const, { op: 'exists', field: TRACE } as const]) {
      expect(checkRaw(condition, { message: 'trace_id', note: '"trace_id":"a"', attributes: { traceid: 'a' } })).to.equal('no')
      expect(checkRaw(condition, { note: 'a', [`trace_${'id'}x`]: 'a' })).to.equal('no')
    }
  })

  it('leaves a key that is spelled with escapes to the parser', () => {
    const phrase: Condition = { op: 'phrase', field: MESSAGE, words: ['disk', 'full'], slop: 0, lastIsPrefix: false }
    const source = Buffer.from('{"message":"disk full","messag\\u0065":"all is well"}')
    expect(rawTest(phrase)!({ source: () => source, sourceOf: () => source, text: () => undefined })).to.equal('unsure')
  })

  it('leaves a key with a slash to the parser: a backslash may stand before it', () => {
    const field: Field = { ...TRACE, path: 'a/b', sourcePath: ['a/b'] }
    const source = Buffer.from('{"a\\/b":"x"}')
    const document = { source: () => source, sourceOf: () => source, text: () => undefined }
    expect(rawTest({ op: 'exists', field })!(document)).to.equal('unsure')
  })

  it('settles plain text', () => {
    const phrase: Condition = { op: 'phrase', field: MESSAGE, words: analyze('disk full'), slop: 0, lastIsPrefix: false }
    const verdict = (message: string) => rawTest(phrase)!(rawDocument({ level: 'ERROR', message, attributes: { a: 1 } }))
    expect(verdict('the Disk full again')).to.equal('yes')
    expect(verdict('full disk')).to.equal('no')
    expect(verdict('disk-full')).to.equal('unsure')
  })
})
