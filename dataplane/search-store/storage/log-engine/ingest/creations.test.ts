/** Creations that come as bytes in the memory of a bulk end as the same operations one by one do. */
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import type { WriteOp } from '../../index-storage.ts'
import { document } from '../testing/arbitrary-documents.ts'
import { expectSame, shapeOf } from '../testing/compare.ts'
import { creationsOf, type Given } from '../testing/creations-of.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { createOracle } from '../testing/oracle.ts'
import { openIndex, withDirectory } from '../testing/temporary-index.ts'

const uuid = (n: number) => `0000000${n}-0000-5000-a000-000000000000`
/** Some look like the end of a document that is cut in front of them. */
const id = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 9 }).map(uuid) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('plain', 'ünï', '}', '"}', ',"level":"x"}', '', 'x'.repeat(513), uuid(3).toUpperCase()),
  },
)
const bytes = document.map(each => Buffer.from(JSON.stringify(each)))
const source = fc.oneof(
  { weight: 6, arbitrary: bytes },
  { weight: 1, arbitrary: fc.tuple(bytes, fc.nat()).map(([each, at]) => each.subarray(0, at % each.length)) },
  { weight: 1, arbitrary: bytes.map(each => Buffer.concat([Buffer.from(' '), each, Buffer.from('\n')])) },
)
const given = fc.record({ id, source })

const creates = (documents: readonly Given[]): WriteOp[] => documents.map(each => ({ action: 'create', ...each }))

describe('creations in the memory of a bulk', function () {
  this.timeout(60_000)

  it('end as the same operations do, and bring the same documents, terms and columns', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(given, { maxLength: 12 }), { maxLength: 5 }), bulks =>
        withDirectory(async dir => {
          const oracle = createOracle(LOG_MAPPING)
          let index = await openIndex(dir, LOG_MAPPING)
          for (const documents of bulks) {
            const wanted = creates(documents).map(op => (isIdTaken(op.id) ? oracle.apply(op) : undefined))
            const errors = await index.create!(creationsOf(documents))
            for (const [k, outcome] of wanted.entries()) {
              const error = errors.get(k)
              if (outcome === undefined) expect(error?.type).to.equal('illegal_argument_exception')
              else expect(error && shapeOf({ error })).to.deep.equal('error' in outcome ? shapeOf(outcome) : undefined)
            }
          }
          expectSame(index, oracle)
          await index.close()
          index = await openIndex(dir, LOG_MAPPING)
          expectSame(index, oracle)
          await index.close()
        }),
      ),
      { numRuns: rounds(150), seed: 21 },
    ))

  it('are numbered in one row with operations that come in the same commit', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const at = (n: number): Given => ({ id: uuid(n), source: Buffer.from(`{"service":"s${n}"}`) })
      const [, errors, outcomes] = await Promise.all([
        index.apply(creates([at(0)])),
        index.create!(creationsOf([at(1), at(0), at(2), at(1)])),
        index.apply([{ action: 'update', id: uuid(2), partial: Buffer.from('{"level":"x"}') }, ...creates([at(3)])]),
      ])
      expect([...errors.keys()]).to.deep.equal([1, 3])
      expect(errors.get(1)!.reason).to.contain(`[${uuid(0)}]: version conflict, document already exists (current version [1])`)
      expect(outcomes).to.deep.equal([
        { result: 'updated', seqNo: 3, version: 2 },
        { result: 'created', seqNo: 4, version: 1 },
      ])
      expect(Buffer.from(index.get(uuid(2))!.source).toString()).to.equal('{"service":"s2","level":"x"}')
      await index.close()
    }))

  it('of many bytes go into several commits, in order', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const documents = Array.from({ length: 9_000 }, (_none, k) => ({
        id: `${String(k).padStart(8, '0')}-0000-5000-a000-000000000000`,
        source: Buffer.from(`{"service":"s","message":"number ${k}"}`),
      }))
      expect((await index.create!(creationsOf(documents))).size).to.equal(0)
      expect(index.docCount).to.equal(9_000)
      expect(index.get(documents[8_999]!.id)).to.include({ seqNo: 8_999, version: 1 })
      expect((await index.create!(creationsOf(documents))).size).to.equal(9_000)
      await index.close()
    }))
})

/** Ids that the index takes. */
const isIdTaken = (id: string): boolean => id !== '' && Buffer.byteLength(id) <= 512
