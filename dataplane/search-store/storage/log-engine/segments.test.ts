import { existsSync, readdirSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { WriteOp } from '../index-storage.ts'
import { expectSame } from './testing/compare.ts'
import { createLogDocuments } from './testing/log-documents.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, numberedDocument } from './testing/numbered-documents.ts'
import { createOracle } from './testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from './testing/temporary-index.ts'

describe('segments', function () {
  this.timeout(30_000)

  it('of a low rate are merged, keeping ids, versions, sequence numbers and deletions', () =>
    withDirectory(async dir => {
      const oracle = createOracle(LOG_MAPPING)
      let index = await openIndex(dir, LOG_MAPPING)
      for (let round = 0; round < 9; round++) {
        const ops: WriteOp[] = [
          ...creates(round * 10, 10),
          { action: 'delete', id: numberedDocument(round * 7).id },
          { action: 'update', id: numberedDocument(round * 10 + 3).id, partial: Buffer.from(`{"anomaly_score":${round + 1}}`) },
        ]
        for (const op of ops) oracle.apply(op)
        await index.apply(ops)
        await index.seal()
      }
      expect(index.segments().length).to.equal(9)
      const snapshot = index.segments()
      // Deleted while the merge is running.
      const merging = index.maintain()
      const late: WriteOp = { action: 'delete', id: numberedDocument(42).id }
      oracle.apply(late)
      await index.apply([late])
      await merging
      expect(index.segments().length).to.equal(1)
      expectSame(index, oracle)
      expect(snapshot.map(segment => segment.postings('message', 'request')!.length)).to.deep.equal(Array.from({ length: 9 }, () => 11))
      expect(Buffer.from(snapshot[0]!.source(0)).toString()).to.equal(numberedDocument(0).source.toString())
      await index.close()
      expect(readdirSync(folderOf(dir)).filter(name => name.endsWith('.seg')).length).to.equal(2)
      index = await openIndex(dir, LOG_MAPPING)
      expectSame(index, oracle)
      await index.close()
    }))

  it('are what they were for a query that began before', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(creates(0, 10))
      const [before] = index.segments()
      await index.apply(creates(10, 10))
      expect(before!.size).to.equal(10)
      expect([...before!.postings('message', 'request')!]).to.deep.equal([...Array(10).keys()])
      await index.seal()
      expect([...before!.postings('message', 'request')!]).to.deep.equal([...Array(10).keys()])
      expect(before!.column('timestamp')).to.have.nested.property('values.length', 10)
      expect(before!.column('service')).to.have.nested.property('codes.length', 10)
      expect(before!.counts()!.reduce((sum, { count }) => sum + count, 0)).to.equal(10)
      expect(before!.id(9)).to.equal(numberedDocument(9).id)
      await index.close()
    }))

  it('can be read on when the index is destroyed meanwhile', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(creates(0, 300))
      await index.seal()
      await index.apply(creates(300, 10))
      const [sealed, tail] = index.segments()
      await index.destroy()
      expect(existsSync(folderOf(dir))).to.equal(false)
      expect(Buffer.from(sealed!.source(299)).toString()).to.equal(numberedDocument(299).source.toString())
      expect(sealed!.postings('message', 'number5')).to.deep.equal(Uint32Array.of(5))
      expect(tail!.postings('message', 'request')!.length).to.equal(10)
      expect(tail!.id(3)).to.equal(numberedDocument(303).id)
      expect(index.docCount).to.equal(0)
      const refusal = await index.apply(creates(0, 1)).catch((error: Error) => error.message)
      expect(refusal).to.match(/closed/)
    }))

  it('follow one another when one is full', () =>
    withDirectory(async dir => {
      const next = createLogDocuments(3, Date.UTC(2026, 10, 21))
      const index = await openIndex(dir, LOG_MAPPING)
      const documents = Array.from({ length: 61_000 }, next)
      const outcomes = await index.apply(documents.map(each => ({ action: 'create', ...each })))
      expect(outcomes.every(each => 'result' in each && each.result === 'created')).to.equal(true)
      await index.apply(creates(0, 1))
      expect(index.segments().map(({ size }) => size)).to.deep.equal([61_000, 1])
      expect(index.docCount).to.equal(61_001)
      for (let k = 0; k < documents.length; k += 997) {
        const stored = index.get(documents[k]!.id)!
        expect(Buffer.compare(stored.source, documents[k]!.source)).to.equal(0)
        expect(stored.seqNo).to.equal(k)
        const { trace_id: trace } = JSON.parse(Buffer.from(documents[k]!.source).toString()) as { trace_id?: string }
        if (trace !== undefined)
          expect(index.segments().reduce((sum, segment) => sum + segment.postings('trace_id', trace)!.length, 0)).to.equal(1)
      }
      const again = await index.apply(documents.slice(0, 50).map(each => ({ action: 'create', ...each })))
      expect(again.every(each => 'error' in each && each.error.status === 409)).to.equal(true)
      await index.close()
    }))

  it('follow one another when the index over one takes much memory, however few documents there are', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      for (let batch = 0; batch < 7; batch++)
        await index.apply(
          Array.from({ length: 40 }, (_none, k): WriteOp => {
            const doc = 40 * batch + k
            const words = Array.from({ length: 6_000 }, (_word, at) => `w${(doc * 6_000 + at).toString(36)}`)
            return { action: 'create', id: `d${doc}`, source: Buffer.from(JSON.stringify({ message: words.join(' ') })) }
          }),
        )
      expect(index.segments().length).to.equal(2)
      expect(index.memoryBytes).to.be.lessThan(48 << 20)
      await index.close()
    }))

  it('are sealed in a pause once half of one is full, and not while others write', () =>
    withDirectory(async dir => {
      let nowMs = 0
      const index = await openIndex(dir, LOG_MAPPING, undefined, { nowMs: () => nowMs })
      const sealed = () => index.segments().filter(segment => segment.constructor.name === 'SealedSegment').length
      await index.apply(creates(0, 8_000))
      nowMs = 60_000
      await index.maintain()
      expect(sealed()).to.equal(0)
      for (let from = 8_000; from < 29_000; from += 7_000) await index.apply(creates(from, 7_000))
      nowMs += 2_900
      await index.maintain()
      expect(sealed()).to.equal(0)
      nowMs += 200
      await index.maintain()
      expect(sealed()).to.equal(1)
      expect(readdirSync(folderOf(dir)).filter(name => name.endsWith('.idx'))).to.deep.equal([])
      await index.apply(creates(29_000, 10))
      expect(index.docCount).to.equal(29_010)
      expect(Buffer.from(index.get(numberedDocument(28_999).id)!.source).toString()).to.equal(numberedDocument(28_999).source.toString())
      await index.close()
    }))

  it('give their memory back when nobody writes', () =>
    withDirectory(async dir => {
      let nowMs = 0
      const oracle = createOracle(LOG_MAPPING)
      const index = await openIndex(dir, LOG_MAPPING, undefined, { nowMs: () => nowMs })
      for (const op of creates(0, 50)) oracle.apply(op)
      await index.apply(creates(0, 50))
      await index.maintain()
      const busy = index.memoryBytes
      nowMs = 3_600_000
      await index.maintain()
      expect(index.memoryBytes).to.be.lessThan(busy)
      expectSame(index, oracle)
      const [outcome] = await index.apply(creates(7, 1))
      expect(outcome).to.have.nested.property('error.status', 409)
      await index.close()
    }))
})

describe('writes', function () {
  this.timeout(30_000)

  it('of several callers become one commit, each with its own outcomes', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const first = index.apply(creates(0, 2))
      const others = [index.apply(creates(2, 3)), index.apply(creates(0, 1)), index.apply([])]
      expect((await first).length).to.equal(2)
      const [created, refused, none] = await Promise.all(others)
      expect(created!.map(outcome => 'result' in outcome && outcome.seqNo)).to.deep.equal([2, 3, 4])
      expect(refused![0]).to.have.nested.property('error.type', 'version_conflict_engine_exception')
      expect(none).to.deep.equal([])
      await index.close()
    }))

  it('refuse ids that are empty or longer than 512 bytes', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const source = Buffer.from('{}')
      const outcomes = await index.apply(
        ['', 'x'.repeat(513), 'é'.repeat(257), 'x'.repeat(512)].map(id => ({ action: 'index', id, source })),
      )
      expect(outcomes.map(each => ('error' in each ? each.error.status : each.result))).to.deep.equal([400, 400, 400, 'created'])
      expect(index.get('x'.repeat(512))?.version).to.equal(1)
      await index.close()
    }))

  it('refuse a document of 30,000 fields and take the next', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const huge = Buffer.from(JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, k) => [`f${k}`, k]))))
      const before = JSON.stringify(index.mapping.toJson())
      const [refused, taken] = await index.apply([{ action: 'index', id: 'huge', source: huge }, ...creates(1, 1)])
      expect(refused).to.have.nested.property('error.reason', 'Limit of total fields [3000] has been exceeded')
      expect(taken).to.have.property('result', 'created')
      expect(JSON.stringify(index.mapping.toJson())).to.equal(before)
      const flat = Buffer.from(`{"attributes":${huge.toString()}}`)
      const [folded] = await index.apply([{ action: 'index', id: 'flat', source: flat }])
      expect(folded).to.have.property('result', 'created')
      expect(index.segments()[0]!.postings('attributes.f29999', '29999')).to.deep.equal(Uint32Array.of(1))
      await index.close()
    }))

  it('change the mapping by PUT _mapping for good', () =>
    withDirectory(async dir => {
      let index = await openIndex(dir, LOG_MAPPING)
      await index.putMapping({ extra: { type: 'long' } })
      const refusal = await index.putMapping({ extra: { type: 'keyword' } }).catch((error: Error) => error.message)
      expect(refusal).to.match(/cannot be changed from type \[long\] to \[keyword\]/)
      const [refused] = await index.apply([{ action: 'index', id: 'a', source: Buffer.from('{"extra":"x"}') }])
      expect(refused).to.have.nested.property('error.type', 'mapper_parsing_exception')
      const { uuid } = index
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expect(index.mapping.field('extra')?.type).to.equal('long')
      expect(index.uuid).to.equal(uuid)
      await index.close()
    }))
})
