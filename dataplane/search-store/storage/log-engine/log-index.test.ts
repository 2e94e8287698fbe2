import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import type { WriteOp } from '../index-storage.ts'
import type { LogIndex } from './log-index.ts'
import { operation } from './testing/arbitrary-documents.ts'
import { expectSame, shapeOf } from './testing/compare.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { createOracle } from './testing/oracle.ts'
import { openIndex, withDirectory } from './testing/temporary-index.ts'

type Step = { readonly write: readonly WriteOp[] } | { readonly next: 'restart' | 'seal' | 'merge' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: fc.array(operation, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ next: fc.constantFrom('restart' as const, 'seal' as const, 'merge' as const) }) },
)

async function take(index: LogIndex, each: Exclude<Step, { write: unknown }>, reopen: () => Promise<LogIndex>): Promise<LogIndex> {
  if (each.next === 'restart') {
    await index.close()
    return reopen()
  }
  await (each.next === 'seal' ? index.seal() : index.maintain())
  return index
}

describe('log index', () => {
  it('answers as a list of parsed documents would, whatever is written, sealed, merged and restarted', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), steps =>
        withDirectory(async dir => {
          const oracle = createOracle(LOG_MAPPING)
          let index = await openIndex(dir, LOG_MAPPING)
          for (const each of steps) {
            if ('write' in each) {
              const outcomes = await index.apply(each.write)
              expect(outcomes.map(shapeOf)).to.deep.equal(each.write.map(op => shapeOf(oracle.apply(op))))
            } else index = await take(index, each, () => openIndex(dir, LOG_MAPPING))
          }
          expectSame(index, oracle)
          expect(index.mapping.toJson()).to.deep.equal(oracle.mapping.toJson())
          await index.seal()
          expectSame(index, oracle)
          await index.close()
        }),
      ),
      { numRuns: rounds(60), seed: 7 },
    )).timeout(60_000)
})
