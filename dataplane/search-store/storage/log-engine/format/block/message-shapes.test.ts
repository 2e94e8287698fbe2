import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { analyze } from '../../../../analysis/standard-analyzer.ts'
import { createMapping } from '../../../../mapping/mapping.ts'
import { mappingConfigOf } from '../../../../mapping/mapping-config.ts'
import { DocumentWalker } from '../../ingest/document-walker.ts'
import { createFieldSlots } from '../../ingest/field-slots.ts'
import { MessageShapes, NUMBERED, readShapes } from './message-shapes.ts'

/** The shape of each document's message, as it would be read from a sealed segment. */
function shapesOf(sources: readonly string[]) {
  const mapping = createMapping(mappingConfigOf({ properties: { message: { type: 'text' } } }, 100))
  const shapes = new MessageShapes()
  const walker = new DocumentWalker(
    mapping,
    createFieldSlots(() => undefined),
    { code: () => -1, shapes },
  )
  for (const source of sources) walker.add(Buffer.from(source))
  for (let doc = 0; doc < sources.length; doc++) shapes.append(doc, walker.events.shapes[doc]!)
  const sections: Buffer[] = []
  const entry = shapes.encode(sources.length, raw => [sections.push(Buffer.from(raw)) - 1, raw.length, raw.length])
  const read = entry && readShapes(entry, ([at]) => sections[at]!)
  return {
    of: (doc: number) => (read === undefined || read.codes[doc] === 0 ? undefined : read.texts[read.codes[doc]!]),
    mayStart: (prefix: string) => read?.mayStart(prefix) ?? false,
  }
}

const isNumbered = (word: string) => /[0-9_]/.test(word)
const message = (text: unknown) => JSON.stringify({ message: text })
/** The same document, which the walker has to parse. */
const escaped = (text: string) => message(text).replace('{"message', '{"\\u006dessage')

const word = fc.constantFrom('slow', 'Query', "don't", 'été', 'a1', '42', '_', 'x_y', '10.1.2.3', 'user-17', '\\', '"', '\u{1f600}', '漢字')
const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '=', ': ')), { maxLength: 9 }).map(parts => parts.flat().join(''))

describe('shapes of messages', () => {
  it('are the words of a message, numbered ones alike, whichever way a document is read', () =>
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 9 }), texts => {
        const shapes = shapesOf(texts.flatMap(each => [message(each), escaped(each)]))
        for (const [at, each] of texts.entries()) {
          const wanted = analyze(each).map(one => (isNumbered(one) ? NUMBERED : one))
          for (const doc of [2 * at, 2 * at + 1]) expect(shapes.of(doc)).to.equal(wanted.join(' '))
        }
      }),
    ))

  it('know how each numbered word begins, and how none does', () => {
    const texts = ['order ord-17 of user_9 at 10.1.2.3', 'session=6f3a01', 'é7', 'b2']
    const shapes = shapesOf(texts.map(message))
    for (const each of texts.flatMap(one => analyze(one)).filter(isNumbered))
      for (let length = 0; length <= each.length; length++) expect(shapes.mayStart(each.slice(0, length)), each).to.equal(true)
    for (const none of ['s', 'se', 'session', 'ordered', 'b2x', '9', '101']) expect(shapes.mayStart(none), none).to.equal(false)
  })

  it('are not known of documents with several messages, with none, and with more shapes than are kept', () => {
    const letters = (at: number) => [...String(at)].map(digit => 'abcdefghij'[Number(digit)]).join('')
    const many = Array.from({ length: 2_100 }, (_none, at) => message(letters(at)))
    const shapes = shapesOf([message(['a', 'b']), message(['a']), '{"other":1}', message(7), ...many, message(letters(0))])
    expect([0, 1, 2, 3].map(shapes.of)).to.deep.equal([undefined, 'a', undefined, NUMBERED])
    expect([4, 4 + 2_000, 4 + 2_099, 4 + 2_100].map(shapes.of)).to.deep.equal(['a', 'caaa', undefined, 'a'])
  })

  it('are not looked for in texts that there is no room for: their words would be parted twice', () => {
    const shapes = new MessageShapes()
    let added = 0
    const add = shapes.add.bind(shapes)
    shapes.add = (...words) => {
      added++
      return add(...words)
    }
    const mapping = createMapping(mappingConfigOf({ properties: { message: { type: 'text' } } }, 100))
    const walker = new DocumentWalker(
      mapping,
      createFieldSlots(() => undefined),
      { code: () => -1, shapes },
    )
    const letters = (at: number) => [...String(at)].map(digit => 'abcdefghij'[Number(digit)]).join('')
    for (let at = 0; at < 1_000; at++) walker.add(Buffer.from(message(`${letters(at)} ${'words of a long message '.repeat(40)}`)))
    expect(added).to.be.within(200, 300)
    expect(walker.events.shapes[0]).to.equal(1)
    expect(walker.events.shapes[999]).to.equal(0)
  })
})
