/** Ids on disk while writes, reads, merges and a full disk meet each other: each document is there once, after a kill too. */
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import type { StoredDocument, WriteOp } from '../../index-storage.ts'
import type { LogIndex } from '../log-index.ts'
import { creationsOf } from '../testing/creations-of.ts'
import { createFailingFiles } from '../testing/failing-files.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { numberedDocument } from '../testing/numbered-documents.ts'
import { createOracle, type Oracle } from '../testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from '../testing/temporary-index.ts'

/** So many ids come again and again; work that runs at once is about ids of its own, so that its order does not matter. */
const IDS = 160
const LANES = 4
const IDLE_MS = 10 * 60_000

const WRITES = ['created', 'indexed', 'flagged', 'retimed', 'deleted', 'deleted and created', 'created and flagged'] as const
const OTHER_WORK = ['seal', 'maintain', 'rest', 'read', 'full disk'] as const

interface Write {
  readonly kind: (typeof WRITES)[number]
  readonly isTold: boolean
  readonly from: number
  readonly count: number
}
/** Writes and other work that begin at once. */
interface Round {
  readonly writes: readonly Write[]
  readonly others: readonly (typeof OTHER_WORK)[number][]
  readonly after: 'nothing' | 'seal' | 'close' | 'kill'
}

const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom(...WRITES, 'created' as const, 'created' as const),
  isTold: fc.integer({ min: 0, max: 9 }).map(n => n > 0),
  from: fc.nat(IDS / LANES),
  count: fc.integer({ min: 1, max: IDS / LANES }),
})
const round: fc.Arbitrary<Round> = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: LANES }),
  others: fc.array(fc.constantFrom(...OTHER_WORK, 'seal', 'seal', 'seal', 'maintain'), { maxLength: 5 }),
  after: fc.constantFrom(...Array<'seal'>(6).fill('seal'), ...Array<'nothing'>(6).fill('nothing'), 'close', 'kill'),
})

/** Ids of one lane. Few hashes would not do here: ids are UUIDs as those of the product. */
const idsOf = ({ from, count }: Write, lane: number): number[] =>
  Array.from({ length: count }, (_, k) => lane + LANES * ((from + k) % (IDS / LANES)))

function opsOf(write: Write, n: number): WriteOp[] {
  const { id, source } = numberedDocument(n)
  const idTellsTime = write.isTold
  const create: WriteOp = { action: 'create', id, source, idTellsTime }
  const flag: WriteOp = { action: 'update', id, partial: Buffer.from(`{"anomaly_score":${n % 7}}`), upsert: source, idTellsTime }
  const remove: WriteOp = { action: 'delete', id }
  switch (write.kind) {
    case 'created':
      return [create]
    case 'indexed':
      return [{ action: 'index', id, source, idTellsTime }]
    case 'flagged':
      return [flag]
    case 'retimed':
      return [{ action: 'update', id, partial: Buffer.from(`{"timestamp":"2026-11-21T00:01:0${n % 10}.000Z"}`) }]
    case 'deleted':
      return [remove]
    case 'deleted and created':
      return [remove, create]
    case 'created and flagged':
      return [create, flag, flag]
  }
}

/** A failure of the disk, not of the operation. */
const isDiskError = (status: number) => status === 429 || status === 507

async function runWrite(index: LogIndex, oracle: Oracle, write: Write, lane: number): Promise<void> {
  const ids = idsOf(write, lane)
  if (write.kind === 'created' && write.isTold) {
    const errors = await index.create!({ ...creationsOf(ids.map(numberedDocument)), idsTellTimes: true })
    for (const [k, n] of ids.entries()) {
      const error = errors.get(k)
      if (error !== undefined && isDiskError(error.status)) continue
      expect('error' in oracle.apply(opsOf(write, n)[0]!), `create of ${n}`).to.equal(error !== undefined)
    }
    return
  }
  const ops = ids.flatMap(n => opsOf(write, n))
  const outcomes = await index.apply(ops)
  for (const [k, op] of ops.entries()) {
    const outcome = outcomes[k]!
    if ('error' in outcome && isDiskError(outcome.error.status)) continue
    const wanted = oracle.apply(op)
    expect('error' in outcome ? outcome.error.status : outcome.result, `${op.action} of ${op.id}`).to.equal(
      'error' in wanted ? wanted.error.status : wanted.result,
    )
  }
}

/** Sequence numbers depend on the order within a round: documents alone are compared. */
function contentOf(index: LogIndex): string[] {
  const all = index.segments().flatMap(segment =>
    Array.from({ length: segment.size }, (_, doc) => doc)
      .filter(doc => segment.isLive(doc))
      .map(doc => `${segment.id(doc)} ${JSON.stringify(JSON.parse(Buffer.from(segment.source(doc)).toString()))}`),
  )
  return all.sort()
}

const contentOfOracle = (oracle: Oracle): string[] =>
  [...oracle.documents.values()].map(({ id, source }) => `${id} ${JSON.stringify(JSON.parse(Buffer.from(source).toString()))}`).sort()

const runNumbersIn = (dir: string): number[] =>
  readdirSync(dir)
    .filter(name => name.endsWith('.ids'))
    .map(name => Number.parseInt(name, 10))

describe('ids on disk, with everything at once', function () {
  this.timeout(120_000)

  it('lead to each document, which is there once', async () => {
    let kills = 0
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 6, maxLength: 60, size: 'max' }), all =>
        withDirectory(async parent => {
          const files = createFailingFiles()
          const oracle = createOracle(LOG_MAPPING)
          let nowMs = 0
          const clock = { nowMs: () => nowMs }
          let dir = join(parent, '0')
          const open = () => openIndex(dir, LOG_MAPPING, files, clock, 6)
          let index = await open()
          const all160 = Array.from({ length: IDS }, (_, n) => numberedDocument(n).id)
          for (const { writes, others, after } of all) {
            const atOnce: Promise<unknown>[] = []
            for (const other of others) {
              if (other === 'full disk') files.room = 3_000
              if (other === 'seal') atOnce.push(index.seal().catch(isOfDisk))
              if (other === 'rest') nowMs += IDLE_MS
              if (other === 'maintain' || other === 'rest') atOnce.push(index.maintain().catch(isOfDisk))
              if (other === 'read') atOnce.push(index.getMany!(all160, ({ id }: StoredDocument) => id))
            }
            for (const [lane, each] of writes.entries()) atOnce.push(runWrite(index, oracle, each, lane))
            await Promise.all(atOnce)
            files.room = Number.POSITIVE_INFINITY
            expect(contentOf(index)).to.deep.equal(contentOfOracle(oracle))
            const found = await index.getMany!(all160, ({ id }: StoredDocument) => id)
            expect(Array.from(found, (id, k) => id ?? `${all160[k]} is missing`)).to.deep.equal(
              all160.map(id => (oracle.documents.has(id) ? id : `${id} is missing`)),
            )
            if (after === 'seal') await index.seal()
            if (after === 'close') {
              await index.close()
              index = await open()
            }
            if (after === 'kill') {
              kills++
              const copy = join(parent, String(kills))
              cpSync(dir, copy, { recursive: true })
              await index.close()
              dir = copy
              index = await open()
            }
          }
          runs = Math.max(runs, ...runNumbersIn(folderOf(dir)))
          await index.close()
        }),
      ),
      { numRuns: rounds(32), seed: 5 },
    )
    expect(kills).to.be.above(3)
    expect(runs).to.be.above(12)
  })
})

function isOfDisk(error: unknown): void {
  if (!(error instanceof Error && 'code' in error)) throw error
}
