import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DocumentRejected } from './document-rejected.ts'
import { createMapping } from './mapping.ts'
import type { MappingConfig } from './mapping-config.ts'

const bytes = (document: unknown) => Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))

function leaves(config: MappingConfig, ...documents: unknown[]) {
  const mapping = createMapping(config)
  const seen: [string, string, unknown][] = []
  for (const document of documents) mapping.parse(bytes(document), (path, field, value) => seen.push([path, field.type, value]))
  return { mapping, seen }
}

function refusal(config: MappingConfig, ...documents: unknown[]): DocumentRejected {
  const mapping = createMapping(config)
  for (const [index, document] of documents.entries()) {
    const before = JSON.stringify(mapping.toJson())
    try {
      mapping.parse(bytes(document))
    } catch (error) {
      expect(index, 'only the last is refused').to.equal(documents.length - 1)
      expect(JSON.stringify(mapping.toJson())).to.equal(before)
      expect(error).to.be.instanceOf(DocumentRejected)
      return error as DocumentRejected
    }
  }
  throw new Error('nothing was refused')
}

describe('mapping', () => {
  it('gives new fields the types OpenSearch gives them', () => {
    const { mapping } = leaves({}, { s: 'a', l: 1, d: 1.5, b: true, t: '2026-01-02T03:04:05Z', n: '12', o: { x: 1 } })
    expect(Object.fromEntries(mapping.paths().map(path => [path, mapping.field(path)!.type]))).to.deep.equal({
      s: 'text',
      's.keyword': 'keyword',
      l: 'long',
      d: 'float',
      b: 'boolean',
      t: 'date',
      n: 'text',
      'n.keyword': 'keyword',
      'o.x': 'long',
    })
    expect(mapping.field('s.keyword')).to.deep.equal({ type: 'keyword', ignoreAbove: 256 })
  })

  it('takes whole numbers written as fractions for fractions', () => {
    const { mapping } = leaves({}, '{"a": 0.0, "b": [1.00], "c": {"d": 1e3 }, "e": 2.50, "f": 10, "g": "1.0, "}')
    expect(Object.fromEntries(mapping.paths().map(path => [path, mapping.field(path)!.type]))).to.deep.equal({
      a: 'float',
      b: 'float',
      'c.d': 'float',
      e: 'float',
      f: 'long',
      g: 'text',
      'g.keyword': 'keyword',
    })
  })

  it('reaches the same field by a dotted key and by a nested object', () => {
    const { seen } = leaves({}, { user: { id: 'a b' } }, { 'user.id': 'c' }, { user: [{ id: ['d', null] }] })
    expect(seen).to.deep.equal([
      ['user.id', 'text', 'a b'],
      ['user.id', 'text', 'c'],
      ['user.id', 'text', 'd'],
    ])
  })

  it('indexes what lies below a flat_object as keywords', () => {
    const config = { properties: { attributes: { type: 'flat_object' } } }
    const { seen, mapping } = leaves(config, { attributes: { 'service.version': '1', a: { b: [2, true] } } }, { 'attributes.c': 'x' })
    expect(seen).to.deep.equal([
      ['attributes.service.version', 'keyword', '1'],
      ['attributes.a.b', 'keyword', 2],
      ['attributes.a.b', 'keyword', true],
      ['attributes.c', 'keyword', 'x'],
    ])
    expect(mapping.field('attributes.any.thing')).to.deep.equal({ type: 'keyword' })
  })

  const conflicts: readonly { name: string; config?: MappingConfig; documents: unknown[]; reason: RegExp; type?: string }[] = [
    { name: 'text for a number', documents: [{ a: 1 }, { a: 'x' }], reason: /failed to parse field \[a\] of type \[long\]/ },
    { name: 'an object for a scalar', documents: [{ a: 1 }, { a: { b: 1 } }], reason: /failed to parse field \[a\] of type \[long\]/ },
    { name: 'a scalar for an object', documents: [{ a: { b: 1 } }, { a: 1 }], reason: /object mapping for \[a\] tried to parse field/ },
    {
      name: 'a dotted key below a scalar',
      documents: [{ a: 1 }, { 'a.b': 1 }],
      reason: /Existing mapping for \[a\] must be of type object/,
    },
    {
      name: 'a boolean for a number',
      documents: [{ a: 1 }, { a: true }],
      reason: /of type \[long\].*: Current token \(VALUE_TRUE\) not numeric/,
    },
    {
      name: 'a number for a boolean',
      documents: [{ a: true }, { a: 1 }],
      reason: /of type \[boolean\].*: Current token \(VALUE_NUMBER\) not of boolean type$/,
    },
    { name: 'no date', documents: [{ a: '2026-01-01' }, { a: 'soon' }], reason: /failed to parse date field/ },
    { name: 'broken JSON', documents: ['{"a":'], reason: /failed to parse/ },
    { name: 'an array as document', documents: [[]], reason: /must be a JSON object/ },
    { name: 'an empty name in a dotted key', documents: [{ new: 1, 'a..b': 1 }], reason: /ambiguous/ },
    {
      name: 'too many fields',
      config: { totalFieldsLimit: 3 },
      documents: [{ a: 1 }, { b: 1, c: 'x' }],
      reason: /^Limit of total fields \[3\] has been exceeded/,
      type: 'illegal_argument_exception',
    },
    {
      name: 'a new field under strict',
      config: { dynamic: 'strict' },
      documents: [{ a: 1 }],
      reason: /dynamic introduction of \[a\]/,
      type: 'strict_dynamic_mapping_exception',
    },
  ]
  for (const { name, config, documents, reason, type } of conflicts) {
    it(`refuses ${name} and stays as it was`, () => {
      const error = refusal(config ?? {}, ...documents)
      expect(`${error.message}: ${error.causedBy?.reason}`).to.match(reason)
      expect(error.type).to.equal(type ?? 'mapper_parsing_exception')
    })
  }

  it('accepts numbers and booleans given as text', () => {
    const { mapping } = leaves({}, { a: 1, b: true }, { a: '2.7', b: 'false' }, { a: '', b: '' })
    expect(mapping.paths()).to.deep.equal(['a', 'b'])
  })

  for (const type of ['integer', 'short', 'byte', 'double', 'float'] as const)
    it(`accepts space around the text of a number of type ${type}`, () => {
      const { mapping } = leaves({ properties: { a: { type } } }, { a: ' 5' }, { a: '5\t' })
      expect(mapping.field('a')).to.deep.equal({ type })
    })

  it('reads texts of a megabyte of digits, for a number and for a new field, in no time', () => {
    const digits = '0'.repeat(1_000_000)
    const startMs = performance.now()
    expect(refusal({}, { a: 1 }, { a: `${digits}x` }).message).to.match(/failed to parse field \[a\] of type \[long\]/)
    expect(leaves({}, { a: 1 }, { a: digits }, { new: `${digits}x` }).mapping.field('new')).to.deep.include({ type: 'text' })
    expect(performance.now() - startMs).to.be.below(2_000)
  })

  it('refuses a text of nothing but space for a whole number', () => {
    for (const type of ['long', 'integer', 'short', 'byte'] as const)
      expect(refusal({ properties: { a: { type } } }, { a: ' ' }).message).to.match(/failed to parse field/)
  })

  for (const type of ['long', 'unsigned_long'] as const)
    it(`refuses space around the text of a number of type ${type}`, () => {
      for (const a of [' 5', '5 ']) expect(refusal({ properties: { a: { type } } }, { a }).message).to.match(/failed to parse field/)
    })

  it('applies the first dynamic template that fits', () => {
    const config: MappingConfig = {
      dynamicTemplates: [
        { ids: { match: '*_id', mapping: { type: 'keyword' } } },
        { strings: { match_mapping_type: 'string', path_match: 'deep.*', mapping: { type: 'keyword', ignore_above: 10 } } },
      ],
    }
    const { mapping } = leaves(config, { a_id: 1, deep: { x: 'y' }, z: 'y' })
    expect(mapping.field('a_id')).to.deep.equal({ type: 'keyword' })
    expect(mapping.field('deep.x')).to.deep.equal({ type: 'keyword', ignoreAbove: 10 })
    expect(mapping.field('z')!.type).to.equal('text')
  })

  it('shows its fields as OpenSearch does', () => {
    const { mapping } = leaves({ properties: { service: { type: 'keyword' } }, dateDetection: false }, { 'http.route': '/x' })
    expect(mapping.toJson()).to.deep.equal({
      date_detection: false,
      properties: {
        http: { properties: { route: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } } } },
        service: { type: 'keyword' },
      },
    })
  })

  it('keeps __proto__ and constructor as ordinary names', () => {
    const { mapping } = leaves({}, '{"__proto__":{"x":1},"constructor":"a"}')
    expect(mapping.paths()).to.deep.equal(['__proto__.x', 'constructor', 'constructor.keyword'])
    expect(Object.hasOwn(mapping.toJson()['properties'] as object, '__proto__')).to.equal(true)
  })

  it('is as it was after a PUT _mapping that was refused, fields that were extended included', () => {
    const mapping = createMapping({ properties: { a: { type: 'text' }, z: { type: 'keyword' } } })
    const before = { json: mapping.toJson(), paths: [...mapping.paths()] }
    const extended = { type: 'text', fields: { k: { type: 'keyword' } }, meta: { unit: 'ms' } }
    expect(() => mapping.put({ a: extended, n: { type: 'long', fields: { t: { type: 'text' } } }, z: { type: 'long' } })).to.throw(/z/)
    expect(mapping.toJson()).to.deep.equal(before.json)
    expect([...mapping.paths()]).to.deep.equal(before.paths)
    expect(mapping.field('a.k')).to.equal(undefined)
    mapping.put({ a: extended })
    expect(mapping.field('a.k')?.type).to.equal('keyword')
    mapping.release()
  })

  it('does not change a field by PUT _mapping to another type', () => {
    const { mapping } = leaves({ properties: { a: { type: 'keyword' } } })
    expect(() => mapping.put({ b: { type: 'long' }, a: { type: 'text' } })).to.throw('cannot be changed from type [keyword] to [text]')
    expect(mapping.paths()).to.deep.equal(['a'])
    mapping.put({ b: { type: 'long' } })
    expect(mapping.paths()).to.deep.equal(['a', 'b'])
  })
})
