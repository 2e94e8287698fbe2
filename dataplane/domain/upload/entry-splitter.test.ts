import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { EntrySplitter } from './entry-splitter.ts'

/** Entries as `[line, text]`, or `[line, 'problem: …']`. */
function split(
  file: string | Uint8Array,
  chunkEnds: readonly number[] = [],
  maxEntryBytes?: number,
): readonly (readonly [number, string])[] {
  const bytes = Buffer.from(file)
  const splitter = new EntrySplitter(maxEntryBytes)
  const ends = [...chunkEnds.filter(end => end <= bytes.length).sort((a, b) => a - b), bytes.length]
  let from = 0
  const entries = ends.flatMap(end => {
    const found = splitter.push(bytes.subarray(from, end))
    from = end
    return found
  })
  return [...entries, ...splitter.end()].map(entry => [
    entry.line,
    'bytes' in entry ? Buffer.from(entry.bytes).toString() : `problem: ${entry.problem}`,
  ])
}

describe('entries of an uploaded file', () => {
  const cases = [
    { title: 'a JSON array', file: '[{"a":1},{"b":"x,]"}]', entries: [[1, '{"a":1}'], [2, '{"b":"x,]"}']] },
    { title: 'a JSON array over lines', file: '[\n  {"a": 1},\n  {"b": 2}\n]\n', entries: [[1, '\n  {"a": 1}'], [2, '\n  {"b": 2}\n']] },
    { title: 'a list without entries', file: ' [ ] ', entries: [] },
    { title: 'one JSON object', file: '{"a":1}', entries: [[1, '{"a":1}']] },
    { title: 'one JSON object over lines', file: '{\n "a": {\n  "b": "}\\""\n }\n}\n', entries: [[1, '{\n "a": {\n  "b": "}\\""\n }\n}']] },
    { title: 'objects over lines', file: '{\n"a":1\n}\n{"b":2}\n', entries: [[1, '{\n"a":1\n}'], [2, '{"b":2}']] },
    { title: 'NDJSON, by its lines', file: '{"a":1}\r\n\n{"b":2}', entries: [[1, '{"a":1}\r'], [3, '{"b":2}']] },
    { title: 'NDJSON behind blank lines and a byte order mark', file: '\ufeff\n\n{"a":1}\n', entries: [[3, '{"a":1}']] },
    { title: 'a line that is no JSON', file: '{"a":1}\noops\n{"b":2}', entries: [[1, '{"a":1}'], [2, 'oops'], [3, '{"b":2}']] },
    { title: 'a first line that breaks off in a text', file: '{"a":"x\n{"b":2}', entries: [[1, '{"a":"x'], [2, '{"b":2}']] },
    { title: 'a first line that is no JSON', file: '{oops\n{"b":2}\n{"c":3}', entries: [[1, '{oops'], [2, '{"b":2}'], [3, '{"c":3}']] },
    { title: 'a first line that breaks off behind a value', file: '\n{"a":1\n{"b":2}\n\n{"c":3}', entries: [[2, '{"a":1'], [3, '{"b":2}'], [5, '{"c":3}']] },
    { title: 'a first line that breaks off behind a comma', file: '{"a":1,\r\n{"b":2}\r\n', entries: [[1, '{"a":1,\r'], [2, '{"b":2}\r']] },
    { title: 'a first line that breaks off behind a colon', file: '{"a":\n{"b":2}\n{"c":3}', entries: [[1, '{"a":'], [2, '{"b":2}'], [3, '{"c":3}']] },
    { title: 'a first line that breaks off in an object of its own', file: '{"a":{"b":1\noops\n  {"c":3}', entries: [[1, '{"a":{"b":1'], [2, 'oops'], [3, '{"c":3}']] },
    { title: 'lines that all break off', file: '{oops\n{oops\n{oops', entries: [[1, '{oops'], [2, '{oops'], [3, '{oops']] },
    { title: 'objects over lines, of which the first breaks off', file: '{\n"a":1\n{\n"b":2\n}', entries: [[1, '{\n"a":1\n'], [2, '{\n"b":2\n}']] },
    { title: 'objects over lines, of which a later one breaks off', file: '{\n"a":1\n}\n{\n"b":2,\n{"c":3}', entries: [[1, '{\n"a":1\n}'], [2, '{\n"b":2,\n'], [3, '{"c":3}']] },
    { title: 'an object over lines that holds objects over lines', file: '{"a":\n{"b":[\n{"c":1},\n{"d":2}\n]}}\n{"e":5}', entries: [[1, '{"a":\n{"b":[\n{"c":1},\n{"d":2}\n]}}'], [2, '{"e":5}']] },
    { title: 'a line between objects', file: '{\n"a":1}\noops\n{"b":2}', entries: [[1, '{\n"a":1}'], [2, 'oops'], [3, '{"b":2}']] },
    { title: 'nothing', file: '', entries: [] },
    { title: 'blanks', file: ' \n\t\n', entries: [] },
    { title: 'an element that is missing', file: '[{"a":1},,{"b":2},]', entries: [[1, '{"a":1}'], [2, 'problem: expected an object, seen nothing'], [3, '{"b":2}'], [4, 'problem: expected an object, seen nothing']] },
    { title: 'a list that does not end', file: '[{"a":1},{"b":2}', entries: [[1, '{"a":1}'], [2, '{"b":2}'], [3, 'problem: expected "]", seen the end of the file']] },
    { title: 'a list that breaks off in an entry', file: '[{"a":1},{"b":', entries: [[1, '{"a":1}'], [2, 'problem: expected the end of the entry and of the list, seen the end of the file']] },
    { title: 'an object over lines that breaks off', file: '{\n"a":1', entries: [[1, 'problem: expected the end of the object, seen the end of the file']] },
    { title: 'more behind the list', file: '[{"a":1}]\n{"b":2}', entries: [[1, '{"a":1}'], [2, 'problem: expected the end of the file after the list, seen more']] },
  ] // biome-ignore format: one case a line
  for (const { title, file, entries } of cases) it(title, () => expect(split(file)).to.deep.equal(entries))

  it('that are larger than may be are refused, and their neighbours are not', () => {
    const large = `{"a":"${'x'.repeat(100)}"}`
    const problem = `problem: expected at most 50 bytes, seen ${large.length}`
    const entries = [
      [1, '{"a":1}'],
      [2, problem],
      [3, '{"b":2}'],
    ]
    expect(split(`{"a":1}\n${large}\n{"b":2}`, [20, 60], 50)).to.deep.equal(entries)
    expect(split(`[{"a":1},${large},{"b":2}]`, [20, 60], 50)).to.deep.equal(entries)
  })

  it('do not depend on where the chunks end', () => {
    const text = fc.oneof(
      fc.array(fc.json(), { maxLength: 6 }).map(values => values.join('\n')),
      fc.array(fc.json(), { maxLength: 6 }).map(values => `[${values.join(',')}]`),
      fc.json().map(value => JSON.stringify({ value: JSON.parse(value) }, null, 2)),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', ',', '"', '\\', '\n', 'a', ' ', ':', '\ufeff'), { maxLength: 40 })
        .map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 8 }), (file, ends) => {
        expect(split(file, ends)).to.deep.equal(split(file))
        expect(
          split(
            file,
            Array.from(file, (_, i) => i),
          ),
        ).to.deep.equal(split(file))
      }),
      { seed: 13, numRuns: rounds(500) },
    )
  })

  it('are those of the list, whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 8 }), fc.nat(3), (values, indent) => {
        const parsed = (file: string) => split(file).map(([, text]) => JSON.parse(text))
        const expected = JSON.parse(JSON.stringify(values))
        expect(parsed(JSON.stringify(values, null, indent))).to.deep.equal(expected)
        expect(parsed(values.map(value => JSON.stringify(value)).join('\n'))).to.deep.equal(expected)
        expect(parsed(values.map(value => JSON.stringify({ value }, null, 2)).join('\n'))).to.deep.equal(
          expected.map((value: unknown) => ({ value })),
        )
      }),
      { seed: 13 },
    )
  })
})
