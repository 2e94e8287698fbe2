import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LOG_NAMESPACE } from '../../../../../domain/records/log-id.ts'
import { memberPick } from '../../../../query/show/member-pick.ts'
import { createDerivedLogDocuments, withDerivedLogId } from '../../testing/derived-log-documents.ts'
import { encodeBlock } from '../../testing/encode-block.ts'
import type { LogDocument } from '../../testing/log-documents.ts'
import { LOG_MAPPING } from '../../testing/log-mapping.ts'
import { folderOf, openIndex, withDirectory } from '../../testing/temporary-index.ts'
import { idKeyOf } from '../document-id.ts'
import { BLOCK_DOCS, readBlockRef, readDocuments, readMessages } from './block.ts'
import { LOG_ID_NAMESPACE } from './log-ids.ts'

/** An index that was written while every block kept its log ids; documents 0 to 199 are sealed, 200 to 259 are not. */
const WRITTEN_BEFORE = fileURLToPath(new URL('../../testing/with-all-log-ids', import.meta.url))
const WRITTEN_MS = Date.parse('2026-11-26T10:55:00Z')
const DOCS = BLOCK_DOCS
const UUID_BYTES = 16

const staged = ({ id, source }: LogDocument) => {
  const text = Buffer.from(source).toString('latin1')
  const start = text.indexOf('"message":"') + 11
  return { id: idKeyOf(id), source, message: { start, end: start + /(?<!\\)"/.exec(text.slice(start))!.index } }
}

const changed = ({ id, source }: LogDocument, change: (text: string) => string): LogDocument => ({
  id,
  source: Buffer.from(change(Buffer.from(source).toString())),
})

/** With the message behind trace and span, as the pipeline writes them. */
const made = (seed: number): LogDocument[] => {
  const next = createDerivedLogDocuments(seed, WRITTEN_MS)
  const inOrder = (text: string) => text.replace(/("message":.*?[^\\]",)(.*?)("trace_id":"[^"]+","span_id":"[^"]+",)/, '$3$1$2')
  return Array.from({ length: DOCS }, () => changed(next(), inOrder))
}

/** Bytes of the documents on disk; each comes back as it is, whole and in part. */
function roundTrip(documents: readonly LogDocument[]): number {
  const block = encodeBlock(documents.map(staged), 0)
  const bytes = Buffer.concat(block.parts)
  const ref = readBlockRef(bytes, 0, 0, 0)
  const readAt = (length: number, position: number) => bytes.subarray(position, position + length)
  const messages = readMessages(ref, readAt)
  const pick = memberPick(['log_id'])
  for (const read of [block.content.documents, readDocuments(ref, readAt)])
    for (const [k, { source }] of documents.entries()) {
      const text = Buffer.from(source).toString()
      expect(read.whole(k, messages).toString()).to.equal(text)
      const picked = read.pick(k, pick)
      const { log_id } = JSON.parse(text)
      if (picked !== undefined) expect(JSON.parse(picked.toString())).to.deep.equal(log_id === undefined ? {} : { log_id })
    }
  return ref.dataBytes
}

/** The same once cuts were found in these documents. */
function roundTripKnown(documents: readonly LogDocument[]): number {
  const whole = documents.map(staged)
  for (let block = 0; block < 150; block++) encodeBlock(whole, 0)
  return roundTrip(documents)
}

const wordsOf = (source: Uint8Array): string[] =>
  JSON.parse(Buffer.from(source).toString())
    .message.toLowerCase()
    .split(/[^a-z0-9_]+/)

describe('ids of log records', () => {
  it('are those of the pipeline', () => {
    expect(LOG_ID_NAMESPACE).to.equal(LOG_NAMESPACE)
  })

  it('are not kept in a block where they follow from trace, span and time', () => {
    const documents = made(1)
    const others = documents.map((document, k) =>
      changed(document, text => text.replace(/"log_id":"[^"]+"/, `"log_id":"00000000-0000-5000-8000-${String(k).padStart(12, '0')}"`)),
    )
    const saved = (roundTripKnown(others) - roundTripKnown(documents)) / DOCS
    expect(saved).to.be.within(UUID_BYTES - 1, UUID_BYTES + 1)
  })

  const parts: readonly [string, (text: string, k: number) => string][] = [
    ['without a trace', text => text.replace(/"trace_id":"[^"]+","span_id":"[^"]+",/, '')],
    ['with a trace and no span', text => text.replace(/"span_id":"[^"]+",/, '')],
    ['with a span and no trace', text => text.replace(/"trace_id":"[^"]+",/, '')],
    ['where some have neither', (text, k) => (k % 3 === 0 ? text.replace(/"trace_id":"[^"]+","span_id":"[^"]+",/, '') : text)],
    [
      'with times of milliseconds',
      text =>
        text
          .replace(/(\.\d{3})\d{6}Z/, '$1Z')
          .replace(/"nanos":\d+/, '"nanos":0')
          .replace(/(unix_nano":"\d{13})\d{6}/, '$1000000'),
    ],
  ]
  for (const [what, change] of parts)
    it(`follow in documents ${what}`, () => {
      const documents = made(2).map((document, k) => {
        const { id, source } = changed(document, text => change(text, k))
        return { id, source: withDerivedLogId(source) }
      })
      const bytes = roundTripKnown(documents)
      const kept = documents.map(document => changed(document, text => text.replace(/"log_id":"..../, '"log_id":"ffff')))
      expect(roundTripKnown(kept) - bytes).to.be.greaterThan((UUID_BYTES - 1) * DOCS)
    })

  const odd: readonly [string, (text: string, k: number) => string][] = [
    ['another id', text => text.replace(/"log_id":"./, '"log_id":"0')],
    ['another trace', text => text.replace(/"trace_id":"./, '"trace_id":"0')],
    ['a trace in capitals', text => text.replace(/"trace_id":"[^"]+"/, match => match.toUpperCase().replace('TRACE_ID', 'trace_id'))],
    ['a short trace', text => text.replace(/"trace_id":"../, '"trace_id":"')],
    ['a span that is a number', text => text.replace(/"span_id":"[^"]+"/, '"span_id":17')],
    ['another time', text => text.replace(/"timestamp":"2026/, '"timestamp":"2027')],
    ['no time', text => text.replace(/"timestamp":"[^"]+",/, '')],
    ['an id in capitals', text => text.replace(/"log_id":"[^"]+"/, match => match.toUpperCase().replace('LOG_ID', 'log_id'))],
    ['no id', text => text.replace(/"log_id":"[^"]+",/, '')],
    ['the trace in front of the id', text => text.replace(/("log_id":"[^"]+",)(.*)("trace_id":"[^"]+",)/, '$3$1$2')],
    ['two ids', text => text.replace(/("log_id":"[^"]+",)/, '$1"x":1,$1')],
  ]
  for (const [what, change] of odd)
    for (const each of [1, 3, 40])
      it(`come back where ${each === 1 ? 'each document' : `one of ${each}`} has ${what}`, () => {
        const documents = made(3)
        const mixed = documents.map((document, k) => (k % each === 0 ? changed(document, text => change(text, k)) : document))
        for (let block = 0; block < 17; block++) encodeBlock(documents.map(staged), 0)
        roundTrip(mixed)
        for (let block = 0; block < 17; block++) encodeBlock(mixed.map(staged), 0)
        roundTrip(mixed)
      })

  it('are kept in segments that were written before, which are read as they are with all their terms, and in new ones after a merge', () =>
    withDirectory(async dir => {
      cpSync(WRITTEN_BEFORE, folderOf(dir), { recursive: true })
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createDerivedLogDocuments(21, WRITTEN_MS)
      const documents = Array.from({ length: 260 }, next)
      const idsOf = (field: string, term: string) =>
        index.segments().flatMap(segment => [...segment.postings(field, term)!].map(doc => segment.id(doc)))
      const check = () => {
        const found = new Map<string, string>()
        for (const segment of index.segments())
          for (let doc = 0; doc < segment.size; doc++) found.set(segment.id(doc), Buffer.from(segment.source(doc)).toString())
        expect(found.size).to.equal(documents.length)
        for (const { id, source } of documents) {
          const text = Buffer.from(source).toString()
          expect(found.get(id)).to.equal(text)
          expect(Buffer.from(index.get(id)!.source).toString()).to.equal(text)
          const { log_id, trace_id, 'user.id': user } = JSON.parse(text)
          expect(idsOf('log_id', log_id)).to.deep.equal([id])
          expect(idsOf('user.id', user)).to.include(id)
          if (trace_id !== undefined) expect(idsOf('trace_id', trace_id)).to.deep.equal([id])
        }
        for (const word of ['request', 'upstream', 'hikaripool', '503', 'absent'])
          expect(idsOf('message', word), word).to.have.members(
            documents.filter(({ source }) => wordsOf(source).includes(word)).map(({ id }) => id),
          )
      }
      check()
      for (let round = 0; round < 9; round++) {
        const more = Array.from({ length: 20 }, next)
        documents.push(...more)
        await index.apply(more.map(document => ({ action: 'create', ...document })))
        await index.seal()
      }
      check()
      await index.maintain()
      expect(index.segments().length).to.be.lessThan(5)
      check()
      await index.close()
    }))
})
