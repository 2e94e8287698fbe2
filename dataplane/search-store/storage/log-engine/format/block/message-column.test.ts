import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../../testing/rounds.ts'
import { sourceReader } from '../../sealed/stored-blocks.ts'
import { expectSame } from '../../testing/compare.ts'
import { encodeBlock } from '../../testing/encode-block.ts'
import { LOG_MAPPING } from '../../testing/log-mapping.ts'
import { creates, numberedDocument } from '../../testing/numbered-documents.ts'
import { createOracle } from '../../testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from '../../testing/temporary-index.ts'
import { readPlanes, writePlanes } from '../bytes/byte-planes.ts'
import { idKeyOf } from '../document-id.ts'
import type { StagedDocument } from '../staged-document.ts'
import { blockBytes, readBlockRef, readDocuments, readMessages } from './block.ts'

/** An index that was written before messages stood apart; documents 0 to 39 are sealed, 40 to 44 are not. */
const WRITTEN_BEFORE = fileURLToPath(new URL('../../testing/without-messages-apart', import.meta.url))

const textOf = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString())

/** Any bytes, with or without a part that may stand apart. */
const staged: fc.Arbitrary<StagedDocument> = fc
  .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.option(fc.tuple(fc.nat(), fc.nat())), fc.uuid(), fc.boolean())
  .map(([source, cut, uuid, isPlain]) => {
    const id = idKeyOf(isPlain ? uuid : `not-${uuid}`)
    if (cut === null || source.length < 2) return { id, source }
    const start = 1 + (cut[0] % (source.length - 1))
    return { id, source, message: { start, end: start + (cut[1] % (source.length - start + 1)) } }
  })

describe('a block', () => {
  it('gives documents and messages back byte for byte', () => {
    fc.assert(
      fc.property(fc.array(staged, { minLength: 1, maxLength: 40 }), documents => {
        const block = encodeBlock(documents, 7)
        const bytes = Buffer.concat(block.parts)
        const ref = readBlockRef(bytes, 0, 0, 7)
        expect(ref).to.deep.equal(block.ref)
        expect([bytes.length, blockBytes(ref)]).to.deep.equal([block.sizeBytes, block.sizeBytes])
        const readAt = (length: number, position: number) => bytes.subarray(position, position + length)
        const messages = readMessages(ref, readAt)
        const source = sourceReader({ documents: readDocuments(ref, readAt), messages })
        for (const [k, document] of documents.entries()) {
          expect(Buffer.compare(source(k), document.source)).to.equal(0)
          const { message } = document
          const text = message && Buffer.from(document.source.subarray(message.start, message.end))
          expect(messages?.get(k)?.toString('latin1')).to.equal(text?.toString('latin1'))
          expect(messages?.span(k)).to.deep.equal(message)
        }
      }),
      { numRuns: rounds(300), seed: 5 },
    )
  })

  it('keeps whole numbers in planes', () => {
    const values = Uint32Array.of(0, 1, 255, 256, 65_536, 0x7fff_ffff, 0xffff_ffff)
    const bytes = new Uint8Array(4 * values.length + 3)
    writePlanes(values, bytes, 3)
    expect(readPlanes(bytes, 3, values.length)).to.deep.equal(values)
  })
})

describe('messages apart from their documents', () => {
  const odd = ['["a","b"]', '17', 'null', '"é \\u0041 \\"x\\" \\n"', '""', '{"a":1}']
  const documentOf = (message: string) => `{"timestamp":"2026-11-21T00:00:00Z", "message": ${message} ,"note":{"message":"inner"}}`
  const expected = [undefined, undefined, undefined, 'é \\u0041 \\"x\\" \\n', '', undefined]

  it('are the text of one string, as it came; the document too, in the tail, sealed, merged and after a restart', () =>
    withDirectory(async dir => {
      let index = await openIndex(dir, LOG_MAPPING)
      const check = () => {
        const found = new Map<string, readonly [string | undefined, string]>()
        for (const segment of index.segments())
          for (let doc = 0; doc < segment.size; doc++)
            found.set(segment.id(doc), [textOf(segment.text!('message', doc)), textOf(segment.source(doc))!])
        for (const [k, message] of odd.entries())
          if (k !== 5) expect(found.get(`odd-${k}`)).to.deep.equal([expected[k], documentOf(message)])
        const { source } = numberedDocument(3)
        expect(found.get(numberedDocument(3).id)).to.deep.equal(['request number3 took 3 ms', source.toString()])
        expect(index.segments()[0]!.text!('service', 0)).to.equal(undefined)
      }
      await index.apply(odd.map((message, k) => ({ action: 'create', id: `odd-${k}`, source: Buffer.from(documentOf(message)) })))
      await index.apply(creates(0, 200))
      check()
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      check()
      await index.seal()
      check()
      for (let round = 0; round < 9; round++) {
        await index.apply(creates(1000 + round, 1))
        await index.seal()
      }
      await index.maintain()
      expect(index.segments().length).to.be.lessThan(5)
      check()
      await index.close()
    }))

  it('twice in one document stay in it', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const source = '{"timestamp":"2026-11-21T00:00:00Z","message":"a","messag\\u0065":"b"}'
      await index.apply([{ action: 'create', id: '1', source: Buffer.from(source) }])
      const [segment] = index.segments()
      expect([textOf(segment!.text!('message', 0)), textOf(segment!.source(0))]).to.deep.equal([undefined, source])
      await index.close()
    }))

  it('are not needed to read and go on with what was written before', () =>
    withDirectory(async dir => {
      cpSync(WRITTEN_BEFORE, folderOf(dir), { recursive: true })
      const oracle = createOracle(LOG_MAPPING)
      for (const op of creates(0, 45)) oracle.apply(op)
      let index = await openIndex(dir, LOG_MAPPING)
      expectSame(index, oracle)
      expect(index.segments().map(({ size }) => size)).to.deep.equal([40, 5])
      expect(textOf(index.segments()[0]!.source(39))).to.equal(numberedDocument(39).source.toString())
      expect(index.segments()[0]!.text!('message', 39)).to.equal(undefined)
      for (const op of creates(45, 5)) oracle.apply(op)
      await index.apply(creates(45, 5))
      await index.seal()
      expectSame(index, oracle)
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expectSame(index, oracle)
      await index.close()
    }))
})
