/** A disk that fails one operation on one kind of file: what was acknowledged is there, what was not is not, and the index goes on when the disk does. */
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import type { WriteOp } from '../index-storage.ts'
import type { LogIndex } from './log-index.ts'
import { createFailingFiles, type FileOperation } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes } from './testing/numbered-documents.ts'
import { folderOf, openIndex, withDirectory } from './testing/temporary-index.ts'

const CASES: readonly (readonly [what: string, path: RegExp, operations: readonly FileOperation[]])[] = [
  ['a segment', /\.seg$/, ['open', 'write', 'sync', 'remove', 'truncate']],
  ['a segment that is made beside', /\.seg\.tmp$/, ['open', 'write', 'sync', 'rename', 'remove']],
  ['index.json', /^index\.json(\.tmp)?$/, ['open', 'write', 'sync', 'rename', 'remove']],
  ['deletions', /\.del(\.tmp)?$/, ['open', 'write', 'sync', 'rename', 'remove']],
  ['ids', /\.ids(\.tmp)?$/, ['open', 'write', 'sync', 'rename', 'remove']],
  ['the log of the index', /\.idx$/, ['open', 'write', 'remove']],
  ['the directory', /^index$/, ['sync directory']],
]
/** How often the operation fails: one time of so many. */
const VARIANTS = [
  ['EIO', 2],
  ['ENOSPC', 1],
  ['EIO', 3],
] as const

/** Ids of the living documents, each once. */
function idsOf(index: LogIndex): string[] {
  const ids: string[] = []
  for (const segment of index.segments()) for (let doc = 0; doc < segment.size; doc++) if (segment.isLive(doc)) ids.push(segment.id(doc))
  return ids.sort()
}

/** Documents that are there, as the writer was told. */
class Told {
  readonly there = new Set<string>()

  async apply(index: LogIndex, ops: readonly WriteOp[]): Promise<void> {
    const outcomes = await index.apply(ops)
    for (const [k, outcome] of outcomes.entries()) {
      const { id, action } = ops[k]!
      if ('error' in outcome) expect(outcome.error.status, JSON.stringify(outcome.error)).to.be.oneOf([429, 507, 409, 404])
      else if (action === 'delete') this.there.delete(id)
      else this.there.add(id)
    }
  }

  get sorted(): string[] {
    return [...this.there].sort()
  }
}

/** The failures of upkeep are those of the disk. */
async function upkeep(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    expect(error).to.have.property('syscall')
  }
}

async function work(index: LogIndex, told: Told, from: number): Promise<void> {
  for (let n = 0; n < 9; n++) {
    await told.apply(index, creates(from + 10 * n, 6))
    // A segment of several commits is written anew when it is sealed.
    if (n % 2 === 1) await told.apply(index, creates(from + 10 * n + 6, 2))
    if (n > 0) await told.apply(index, deletes(from + 10 * (n - 1), n === 3 ? 8 : 2))
    await upkeep(index.seal())
  }
  await upkeep(index.maintain())
  await told.apply(index, deletes(from + 80, 8))
}

describe('a disk that fails', function () {
  this.timeout(60_000)

  for (const [what, path, operations] of CASES)
    for (const operation of operations)
      for (const [code, every] of VARIANTS.slice(0, rounds(VARIANTS.length)))
        it(`at ${operation} of ${what} (${code}, ${every === 1 ? 'always' : `one time of ${every}`})`, () =>
          withDirectory(async dir => {
            const files = createFailingFiles()
            let index = await openIndex(dir, LOG_MAPPING, files)
            const told = new Told()
            await work(index, told, 0)
            let met = 0
            files.fault = (done, at) => (done === operation && path.test(basename(at)) && met++ % every === 0 ? code : undefined)
            await work(index, told, 1_000)
            files.fault = undefined
            expect(met).to.be.above(0)
            expect(idsOf(index), 'while the disk failed').to.deep.equal(told.sorted)
            await work(index, told, 2_000)
            expect(idsOf(index), 'when the disk was well again').to.deep.equal(told.sorted)
            files.fault = (done, at) => (done === operation && path.test(basename(at)) ? code : undefined)
            await index.close().catch(error => expect(error).to.have.property('syscall'))
            files.fault = undefined
            index = await openIndex(dir, LOG_MAPPING, files)
            expect(idsOf(index), 'after a start').to.deep.equal(told.sorted)
            await work(index, told, 3_000)
            await index.close()
            index = await openIndex(dir, LOG_MAPPING, files)
            expect(idsOf(index), 'after another start').to.deep.equal(told.sorted)
            await index.close()
          }))

  it('that has no room for a segment written anew: it is sealed as it was written', () =>
    withDirectory(async dir => {
      const files = createFailingFiles()
      let index = await openIndex(dir, LOG_MAPPING, files)
      const told = new Told()
      for (let n = 0; n < 9; n++) await told.apply(index, creates(10 * n, 2))
      files.fault = (done, at) => (done === 'write' && at.endsWith('.seg.tmp') ? 'ENOSPC' : undefined)
      await index.seal()
      expect(readdirSync(folderOf(dir)).filter(name => name.includes('.seg'))).to.deep.equal(['00000001.seg', '00000002.seg'])
      await work(index, told, 1_000)
      expect(idsOf(index)).to.deep.equal(told.sorted)
      await index.close()
      files.fault = undefined
      index = await openIndex(dir, LOG_MAPPING, files)
      expect(idsOf(index), 'after a start').to.deep.equal(told.sorted)
      await index.close()
    }))
})
