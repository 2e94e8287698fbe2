import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { DocumentRejected } from '../../../mapping/document-rejected.ts'
import { createMapping } from '../../../mapping/mapping.ts'
import type { MappingConfig } from '../../../mapping/mapping-config.ts'
import { visitDocument } from '../../../mapping/parse-document.ts'
import { Turns } from '../../../turns.ts'
import { WordPairs } from '../format/segment-index/word-pairs.ts'
import { TailIndex } from '../tail/tail-index.ts'
import { document } from '../testing/arbitrary-documents.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { DocumentWalker } from './document-walker.ts'
import { createFieldSlots } from './field-slots.ts'

function createWalker(config: MappingConfig = LOG_MAPPING) {
  const mapping = createMapping(config)
  const slots = createFieldSlots(path => (path.startsWith('attributes.') ? 'attributes' : undefined))
  return { mapping, walker: new DocumentWalker(mapping, slots, { code: () => -1 }) }
}

/** Refused or taken, by the walker and by the parsed way on a mapping of its own. */
function createPair() {
  const { mapping, walker } = createWalker()
  const reference = createMapping(LOG_MAPPING)
  return (source: Uint8Array) => {
    walker.events.clear()
    const mark = mapping.mark()
    const walked = outcome(() => walker.add(source))
    if (walked !== 'taken') mapping.rollback(mark)
    const parsed = outcome(() => reference.transaction(() => visitDocument(reference, source)))
    expect(mapping.toJson()).to.deep.equal(reference.toJson())
    expect(walked).to.equal(parsed)
    return { walked, terms: walker.events.termEnd / 2, numbers: walker.events.numberEnd }
  }
}

function outcome(body: () => void): string {
  try {
    body()
    return 'taken'
  } catch (error) {
    return (error as Error).message
  }
}

/** A document with something broken in it. */
const damaged = fc
  .tuple(document, fc.nat(), fc.constantFrom('', '"', '\\', '{', '}', '[', ',', ':', '\u0001', '0', 'e', '\\u12', '\xff'))
  .map(([each, at, put]) => {
    const bytes = Buffer.from(JSON.stringify(each))
    const position = at % bytes.length
    return Buffer.concat([bytes.subarray(0, position), Buffer.from(put, 'latin1'), bytes.subarray(position + 1)])
  })

describe('walking a document', () => {
  it('refuses exactly what JSON.parse and the mapping refuse', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            damaged,
            document.map(each => Buffer.from(JSON.stringify(each))),
          ),
          { maxLength: 8 },
        ),
        sources => {
          const walk = createPair()
          // Twice: the second time the walker knows the way.
          for (const source of [...sources, ...sources]) walk(source)
        },
      ),
      { numRuns: rounds(400), seed: 8 },
    ))

  it('refuses a document wherever it is cut', () => {
    const walk = createPair()
    const whole = Buffer.from(
      '{"message":"a1 b.c d_e 10.1","service":"a b","level":"x","nested":{"list":[1,{"n":2.5e1}]},"attributes":{"x":"y"}}',
    )
    walk(whole)
    for (let end = 0; end < whole.length; end++)
      expect(walk(whole.subarray(0, end)).walked, whole.toString('utf8', 0, end)).to.not.equal('taken')
  })

  it('lets the last of duplicate keys win', () => {
    const walk = createPair()
    expect(walk(Buffer.from('{"service":"a b","level":"x"}')).terms).to.equal(2)
    expect(walk(Buffer.from('{"service":"a","level":"x","service":"b"}'))).to.deep.equal({ walked: 'taken', terms: 2, numbers: 0 })
  })

  it('survives nesting without end', () => {
    const walk = createPair()
    const deep = (open: string, close: string) => Buffer.from(`{"a":${open.repeat(5_000)}${close.repeat(5_000)}}`)
    expect(walk(deep('[', ']')).walked).to.match(/nested deeper/)
    expect(walk(deep('{"a":', '}').fill('1', 25_005, 25_005)).walked).to.not.equal('taken')
  })

  it('refuses in turns what it refuses at once', async () => {
    const { walker } = createWalker()
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const source = Buffer.from(`{"a":${open.repeat(50_000)}${close.repeat(50_000)}}`)
      expect(walker.add(source)).to.equal(false)
      const refused = await walker.addInTurns(source, new Turns()).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(DocumentRejected)
      expect(walker.events.count).to.equal(0)
    }
  })

  /** Sorted: fields come in another order. */
  const eventsOf = ({ events }: DocumentWalker) => {
    const pairs: string[] = []
    for (let k = 0; k < events.termEnd; k += 2) pairs.push(`${events.terms[k]}/${events.terms[k + 1]}`)
    return { terms: pairs.sort(), numbers: [...events.numbers.subarray(0, events.numberEnd)].sort(), count: events.count }
  }

  it('finds the same in turns as at once', () =>
    fc.assert(
      fc.asyncProperty(fc.array(document, { maxLength: 5 }), async documents => {
        const [atOnce, inTurns] = [createWalker(), createWalker()]
        for (const each of documents) {
          const source = Buffer.from(JSON.stringify(each))
          const refused = outcome(() => atOnce.walker.add(source)) !== 'taken'
          const late = await inTurns.walker.addInTurns(source, new Turns()).then(
            () => false,
            () => true,
          )
          expect(late).to.equal(refused)
        }
        expect(eventsOf(inTurns.walker)).to.deep.equal(eventsOf(atOnce.walker))
      }),
      { numRuns: rounds(200), seed: 9 },
    ))

  /** A walker that gives values codes, and what documents have brought it, by field. */
  function createCoding() {
    const { mapping } = createWalker()
    const slots = createFieldSlots(path => (path.startsWith('attributes.') ? 'attributes' : undefined))
    const index = new TailIndex(new Set())
    const walker = new DocumentWalker(mapping, slots, index)
    const taken = () => {
      const { events } = walker
      const pathOf = (slot: number) => slots.all[slot]!.path
      const terms: string[] = []
      for (let k = 0; k < events.termEnd; k += 2) terms.push(`${events.terms[k]}/${events.terms[k + 1]}`)
      const codes: string[] = []
      for (let k = 0; k < events.codeEnd; k += 2) {
        const slot = events.codes[k]!
        codes.push(`${pathOf(slot)}=${index.keywords[slot]!.dictionary[events.codes[k + 1]!]}`)
      }
      const numbers = [...events.numbers.subarray(0, events.numberEnd)].map((value, k) => `${pathOf(events.numberSlots[k]!)}=${value}`)
      return { terms: terms.sort(), codes: codes.sort(), numbers: numbers.sort(), count: events.count }
    }
    return { index, walker, taken }
  }

  it('finds the same in members that it knows as in those that it reads', () =>
    fc.assert(
      fc.asyncProperty(fc.array(document, { maxLength: 6 }), fc.array(fc.nat(5), { maxLength: 20 }), async (documents, order) => {
        const [known, parsed] = [createCoding(), createCoding()]
        for (const at of order) {
          const each = documents[at]
          if (each === undefined) continue
          const source = Buffer.from(JSON.stringify(each))
          known.walker.events.clear()
          parsed.walker.events.clear()
          // In the midst of others, as documents stand in a bulk.
          const memory = Buffer.concat([Buffer.from('{"service":"x"}'), source, Buffer.from(',"level":"x"}')])
          const refused = outcome(() => known.walker.add(memory, 15, 15 + source.length)) !== 'taken'
          const late = await parsed.walker.addInTurns(source, new Turns()).then(
            () => false,
            () => true,
          )
          expect(refused).to.equal(late)
          expect(known.taken()).to.deep.equal(parsed.taken())
        }
      }),
      { numRuns: rounds(300), seed: 12 },
    ))

  it('finds the same in objects that it knows, also once their values have no codes', async () => {
    const [known, parsed] = [createCoding(), createCoding()]
    const walk = async (fields: object) => {
      known.walker.events.clear()
      parsed.walker.events.clear()
      const source = Buffer.from(JSON.stringify(fields))
      known.walker.add(source)
      await parsed.walker.addInTurns(source, new Turns())
      expect(known.taken()).to.deep.equal(parsed.taken())
    }
    // The last value that has a code stands amid an object.
    const objectOf = (n: number) => ({ a: Array.from({ length: 41 }, (_none, k) => `v${41 * n + k}`) })
    for (let n = 0; n < 60; n++) for (let times = 0; times < 3; times++) await walk({ service: 's', attributes: objectOf(n) })
    for (let n = 0; n < 60; n++) await walk({ attributes: objectOf(n), service: 's' })
    expect(known.index.revision).to.be.greaterThan(0)
  })

  it('takes in the neighbours of words in a text beside a keyword each time', () => {
    const mapping = createMapping({ properties: { k: { type: 'keyword', fields: { t: { type: 'text' } } } } })
    const pairs = new WordPairs()
    const walker = new DocumentWalker(
      mapping,
      createFieldSlots(() => undefined),
      { code: () => 1, pairs },
    )
    for (let times = 0; times < 3; times++) {
      pairs.clear()
      walker.add(Buffer.from('{"k":"two words"}'))
      expect(pairs.changes()).to.have.length.greaterThan(0)
    }
  })

  it('finds a field that was null before it was there', () => {
    const walk = createPair()
    for (let k = 0; k < 4; k++) walk(Buffer.from('{"service":"a","new":null,"host":"h"}'))
    walk(Buffer.from('{"service":"a","new":"x","host":"h"}'))
    for (const text of ['null', '"x"', 'null', '"y"'])
      expect(walk(Buffer.from(`{"service":"a","new":${text},"host":"h"}`)).terms).to.equal(text === 'null' ? 2 : 3)
  })

  it('brings terms in place of codes from the document on in which a field has too many values', () => {
    const { index, walker, taken } = createCoding()
    const walk = (fields: object) => {
      walker.events.clear()
      walker.add(Buffer.from(JSON.stringify(fields)))
      const { codes, terms } = taken()
      return { codes: codes.length, terms: terms.length }
    }
    for (let k = 0; k < 2_100; k++) walk({ host: 'same', level: k % 2 === 0 ? 'same' : `value ${k}`, service: 'same' })
    expect(walk({ host: 'same', level: 'same', service: 'same' })).to.deep.equal({ codes: 3, terms: 0 })
    for (let k = 0; k < 2_100; k++) walk({ host: 'same', level: `other ${k}`, service: 'same' })
    expect(index.revision).to.equal(1)
    expect(walk({ host: 'same', level: 'same', service: 'same' })).to.deep.equal({ codes: 2, terms: 1 })
    expect(walk({ host: 'same', level: 'same', service: 'same' })).to.deep.equal({ codes: 2, terms: 1 })
  })

  it('knows a member in a document that holds it twice', () => {
    const walk = createPair()
    for (let k = 0; k < 4; k++) expect(walk(Buffer.from('{"service":"a","level":"x","host":"h"}')).terms).to.equal(3)
    expect(walk(Buffer.from('{"service":"a","level":"x","service":"a","host":"h"}'))).to.deep.equal({
      walked: 'taken',
      terms: 3,
      numbers: 0,
    })
  })

  it('knows the values of one field however many fields have values that never come again', () => {
    const ids = Array.from({ length: 14 }, (_, n) => `id_${n}`)
    const keyword = { type: 'keyword' }
    const mapping = createMapping({ properties: { service: keyword, ...Object.fromEntries(ids.map(id => [id, keyword])) } })
    let asked = 0
    const code = ({ path }: { readonly path: string }, lo: number) => {
      if (path === 'service') asked++
      return lo >>> 8
    }
    const walker = new DocumentWalker(
      mapping,
      createFieldSlots(() => undefined),
      { code },
    )
    for (let k = 0; k < 600; k++) {
      if (k === 300) asked = 0
      walker.events.clear()
      const fields = ids.map(id => `"${id}":"${id} of document ${k}, which no other has, with some more words"`)
      walker.add(Buffer.from(`{"service":"service ${k % 5}",${fields.join(',')}}`))
    }
    expect(asked).to.be.lessThan(30)
  })

  const words = 'สวัสดี 😀 Ⅷ e\u0301 日本 word '
  for (const [name, mapping] of [
    ['one field', { type: 'text' }],
    ['multi-fields', { type: 'text', fields: { a: { type: 'text' }, b: { type: 'text' }, k: { type: 'keyword', ignore_above: 9 } } }],
  ] as const)
    it(`leaves large texts beyond ASCII to turns, and loses no word of them: ${name}`, async () => {
      const { walker } = createWalker({ properties: { t: mapping } })
      const source = Buffer.from(JSON.stringify({ t: words.repeat(30_000) }))
      expect(walker.add(Buffer.from(JSON.stringify({ t: words })))).to.equal(true)
      const once = walker.events.termEnd / 2
      expect(walker.add(source)).to.equal(false)
      await walker.addInTurns(source, new Turns())
      expect(walker.events.termEnd / 2 - once).to.equal(30_000 * once)
      expect(walker.events.count).to.equal(2)
    })

  it('loses no word of a dense text with many multi-fields, and refuses one with too many', async () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_none, at) => [`f${at}`, { type: 'text' }]))
    const few = createWalker({ properties: { t: { type: 'text', fields: fields(20) } } }).walker
    expect(few.add(Buffer.from(JSON.stringify({ t: 'a '.repeat(1000) })))).to.equal(true)
    expect(few.events.termEnd / 2).to.equal(21 * 1000)
    const many = createWalker({ properties: { t: { type: 'text', fields: fields(200) } } }).walker
    const source = Buffer.from(JSON.stringify({ t: 'a '.repeat(50_000) }))
    expect(many.add(source)).to.equal(false)
    const refused = await many.addInTurns(source, new Turns()).catch((error: Error) => error.message)
    expect(refused).to.match(/more than 4194304 words/)
  })

  it('refuses invalid UTF-8', () => {
    const walk = createPair()
    for (const field of ['message', 'service', 'time_unix_nano', 'new'])
      expect(walk(Buffer.from(`{"${field}":"\xff"}`, 'latin1')).walked).to.not.equal('taken')
  })
})
