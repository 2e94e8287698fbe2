import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { createMapping } from '../../../mapping/mapping.ts'
import { visitDocument } from '../../../mapping/parse-document.ts'
import { document } from '../testing/arbitrary-documents.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { DocumentWalker } from './document-walker.ts'
import { createFieldSlots } from './field-slots.ts'

/** Refused or taken, by the walker and by the parsed way on a mapping of its own. */
function createPair() {
  const mapping = createMapping(LOG_MAPPING)
  const slots = createFieldSlots(path => (path.startsWith('attributes.') ? 'attributes' : undefined))
  const walker = new DocumentWalker(mapping, slots, { code: () => -1 })
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
      { numRuns: 400, seed: 8 },
    ))

  it('lets the last of duplicate keys win', () => {
    const walk = createPair()
    expect(walk(Buffer.from('{"service":"a b","level":"x"}')).terms).to.equal(2)
    expect(walk(Buffer.from('{"service":"a","level":"x","service":"b"}'))).to.deep.equal({ walked: 'taken', terms: 2, numbers: 0 })
  })

  it('survives nesting without end', () => {
    const walk = createPair()
    const deep = (open: string, close: string) => Buffer.from(`{"a":${open.repeat(50_000)}${close.repeat(50_000)}}`)
    expect(walk(deep('[', ']')).walked).to.match(/nested deeper/)
    expect(walk(deep('{"a":', '}').fill('1', 250_005, 250_005)).walked).to.not.equal('taken')
  })

  it('refuses invalid UTF-8', () => {
    const walk = createPair()
    for (const field of ['message', 'service', 'time_unix_nano', 'new'])
      expect(walk(Buffer.from(`{"${field}":"\xff"}`, 'latin1')).walked).to.not.equal('taken')
  })
})
