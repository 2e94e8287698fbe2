/** Documents that another thread has walked end as those that the index walks itself. */
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { LentBuffers } from '../../../../memory/lent-buffers.ts'
import { rounds } from '../../../../testing/rounds.ts'
import type { Creations, WriteOp } from '../../index-storage.ts'
import type { LogIndex } from '../log-index.ts'
import { document } from '../testing/arbitrary-documents.ts'
import { expectSame, shapeOf } from '../testing/compare.ts'
import { creationsOf, type Given } from '../testing/creations-of.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { createOracle } from '../testing/oracle.ts'
import { openIndex, withDirectory } from '../testing/temporary-index.ts'
import { IndexWalker } from './index-walker.ts'

const uuid = (n: number) => `${String(n).padStart(8, '0')}-0000-5000-a000-000000000000`
const id = (max: number) =>
  fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 0, max }).map(uuid) }, { weight: 1, arbitrary: fc.constantFrom('plain', 'ünï', '}') })
const bytes = document.map(each => Buffer.from(JSON.stringify(each)))
const source = fc.oneof(
  { weight: 20, arbitrary: bytes },
  { weight: 1, arbitrary: fc.tuple(bytes, fc.nat()).map(([each, at]) => each.subarray(0, at % each.length)) },
)
const given = (ids: fc.Arbitrary<string>): fc.Arbitrary<Given> => fc.record({ id: ids, source })

/** A thread that walks for one index and learns what the index tells after each bulk. */
function walkerOf(index: LogIndex) {
  let walker: IndexWalker | undefined
  return {
    left: 0,
    walk(creations: Creations): Creations {
      if (walker === undefined) return creations
      const walked = walker.walk(creations)
      this.left += walker.left
      return { ...creations, walked: structuredClone(walked, { transfer: [walked.words] }) }
    },
    learn(): void {
      const news = index.newsFor!(walker?.knowledge)
      if (news !== undefined && walker?.learn(news) !== true) walker = new IndexWalker(structuredClone(news), new LentBuffers())
    },
  }
}

async function compare(bulks: readonly (readonly Given[])[], dir: string): Promise<void> {
  const oracle = createOracle(LOG_MAPPING)
  let index = await openIndex(dir, LOG_MAPPING)
  const walker = walkerOf(index)
  for (const documents of bulks) {
    const wanted = documents.map(each => oracle.apply({ action: 'create', ...each }))
    const errors = await index.create!(walker.walk(creationsOf(documents)))
    for (const [k, outcome] of wanted.entries()) {
      const error = errors.get(k)
      expect(error && shapeOf({ error })).to.deep.equal('error' in outcome ? shapeOf(outcome) : undefined)
    }
    walker.learn()
  }
  expectSame(index, oracle)
  await index.seal()
  expectSame(index, oracle)
  await index.close()
  index = await openIndex(dir, LOG_MAPPING)
  expectSame(index, oracle)
  await index.close()
}

const TERMS = [
  ['message', 'answered'],
  ['message', '96'],
  ['service', 'service-3'],
  ['trace_id', '5'.padStart(32, '0')],
  ['trace_id', '9876'.padStart(32, '0')],
  ['log_id', uuid(14_000)],
  ['attributes.user.name', 'u3'],
  ['attributes', 'u3'],
  ['anomaly_score', '0.5'],
] as const

/** Both hold the same documents in the same order and find them by the same terms and columns. */
function expectAlike(a: LogIndex, b: LogIndex): void {
  expect(a.segments()).to.have.length(1)
  const [one, other] = [a.segments()[0]!, b.segments()[0]!]
  expect(one.size).to.equal(other.size)
  for (let doc = 0; doc < one.size; doc += 37) {
    expect([one.id(doc), one.seqNo(doc), String(one.source(doc))]).to.deep.equal([
      other.id(doc),
      other.seqNo(doc),
      String(other.source(doc)),
    ])
    expect(one.text?.('message', doc)).to.deep.equal(other.text?.('message', doc))
  }
  for (const [field, term] of TERMS) expect(one.postings(field, term), `${field} ${term}`).to.deep.equal(other.postings(field, term))
  for (const field of ['timestamp', 'level', 'service', 'trace_id', 'anomaly_score', 'attributes.user.name'])
    expect(one.column(field), field).to.deep.equal(other.column(field))
  const [shapes, otherShapes] = [one.textShapes?.('message'), other.textShapes?.('message')]
  expect([shapes?.codes, shapes?.texts]).to.deep.equal([otherShapes?.codes, otherShapes?.texts])
  for (const start of ['user', '9', '1x']) expect(shapes?.mayStart(start)).to.equal(otherShapes?.mayStart(start))
  expect(one.mayHoldPair?.('message', 'was', 'answered')).to.equal(true)
  expect(one.mayHoldPair?.('message', 'answered', 'was')).to.equal(other.mayHoldPair?.('message', 'answered', 'was'))
}

const log = (n: number, more: object = {}): Given => ({
  id: uuid(n),
  source: Buffer.from(
    JSON.stringify({
      timestamp: new Date(Date.UTC(2026, 10, 21) + 7 * n).toISOString(),
      level: n % 9 === 0 ? 'ERROR' : 'INFO',
      message: `request ${n} of user-${n % 13} took ${n % 97} ms and was ${n % 2 === 0 ? 'answered' : 'refused'}`,
      service: `service-${n % 5}`,
      log_id: uuid(n),
      trace_id: `${n}`.padStart(32, '0'),
      anomaly_score: (n % 10) / 10,
      attributes: { 'http.method': 'GET', 'user.name': `u${n % 7}` },
      ...more,
    }),
  ),
})
const logs = (from: number, count: number, more?: object) => Array.from({ length: count }, (_none, k) => log(from + k, more))

describe('documents that another thread has walked', function () {
  this.timeout(120_000)

  it('bring the same documents, terms and columns as those that the index walks', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(given(id(60)), { maxLength: 12 }), { maxLength: 6 }), bulks =>
        withDirectory(dir => compare(bulks, dir)),
      ),
      { numRuns: rounds(50), seed: 22 },
    ))

  it('do so with their blocks, with documents that are there already and such that are refused among them', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(given(id(900)), { minLength: 66, maxLength: 140 }), { minLength: 2, maxLength: 2 }), bulks =>
        withDirectory(dir => compare(bulks, dir)),
      ),
      { numRuns: 5, seed: 23 },
    ))

  it('do so in commits that take a part of them, and beyond the values that a field has codes for', () =>
    withDirectory(async dir => {
      const [walked, plain] = [await openIndex(join(dir, 'walked'), LOG_MAPPING), await openIndex(join(dir, 'plain'), LOG_MAPPING)]
      const walker = walkerOf(walked)
      // The last bulk is more than a commit takes, and begins with documents that are there.
      for (const documents of [logs(0, 200), logs(200, 3_000), logs(3_200, 3_000), logs(6_100, 9_000)]) {
        expect([...(await walked.create!(walker.walk(creationsOf(documents)))).keys()]).to.deep.equal([
          ...(await plain.create!(creationsOf(documents))).keys(),
        ])
        walker.learn()
      }
      expectAlike(walked, plain)
      await Promise.all([walked.seal(), plain.seal()])
      expectAlike(walked, plain)
      await Promise.all([walked.close(), plain.close()])
    }))

  it('are walked but for those with new fields, and with them once the index has the fields', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const walker = walkerOf(index)
      const left: number[] = []
      for (const documents of [logs(0, 40), logs(40, 40), logs(80, 40, { shard: 7 }), logs(120, 40, { shard: 8 })]) {
        walker.left = 0
        expect((await index.create!(walker.walk(creationsOf(documents)))).size).to.equal(0)
        left.push(walker.left)
        walker.learn()
      }
      expect(left).to.deep.equal([0, 0, 40, 0])
      expect(index.docCount).to.equal(160)
      await index.close()
    }))

  it('are walked by the index where its mapping was changed meanwhile', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const walker = walkerOf(index)
      walker.learn()
      const before = walker.walk(creationsOf(logs(0, 40, { later: 'Two Words' })))
      await index.putMapping({ later: { type: 'text' } })
      await index.create!(before)
      const [segment] = index.segments()
      expect([...segment!.postings('later', 'words')!]).to.have.length(40)
      walker.learn()
      expect((await index.create!(walker.walk(creationsOf(logs(40, 40, { later: 'Three Words' }))))).size).to.equal(0)
      expect(walker.left).to.equal(40)
      expect([...index.segments()[0]!.postings('later', 'three')!]).to.have.length(40)
      await index.close()
    }))

  it('are walked by an index that was opened anew since', () =>
    withDirectory(async dir => {
      let index = await openIndex(dir, LOG_MAPPING)
      const walker = walkerOf(index)
      walker.learn()
      const walked = walker.walk(creationsOf(logs(0, 40)))
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expect((await index.create!(walked)).size).to.equal(0)
      expect([...index.segments()[0]!.postings('message', 'answered')!]).to.have.length(20)
      await index.close()
    }))

  it('are numbered in one row with operations of the same commit, and change nothing when they come again', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const walker = walkerOf(index)
      walker.learn()
      const update: WriteOp = { action: 'update', id: uuid(5), partial: Buffer.from('{"level":"x"}') }
      const [, errors, outcomes] = await Promise.all([
        index.apply([{ action: 'create', ...log(150) }]),
        index.create!(walker.walk(creationsOf(logs(0, 200)))),
        index.apply([update]),
      ])
      expect([...errors.keys()]).to.deep.equal([150])
      expect(outcomes).to.deep.equal([{ result: 'updated', seqNo: 200, version: 2 }])
      const again = await index.create!(walker.walk(creationsOf(logs(0, 200))))
      expect(again.size).to.equal(200)
      expect(JSON.parse(Buffer.from(index.get(uuid(5))!.source).toString())).to.include({ level: 'x', service: 'service-0' })
      expect(index.docCount).to.equal(200)
      await index.close()
    }))
})
