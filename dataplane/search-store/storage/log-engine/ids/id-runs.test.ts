/** Ids whose segments are sealed and old stand in runs on disk: writes and reads meet them as if they stood in memory. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import type { Creations, WriteOp } from '../../index-storage.ts'
import { type IndexFiles, nodeFiles } from '../format/index-files.ts'
import type { LogIndex } from '../log-index.ts'
import { expectSame } from '../testing/compare.ts'
import { creationsOf } from '../testing/creations-of.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { numberedDocument } from '../testing/numbered-documents.ts'
import { createOracle, type Oracle } from '../testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from '../testing/temporary-index.ts'
import { DocumentTimes } from './document-times.ts'
import { IdRunWriter } from './id-run.ts'
import { IdRuns } from './id-runs.ts'
import { placeOf } from './place.ts'

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, k) => from + k)
/** Documents whose ids tell their times. */
const told = (all: readonly number[]): Creations => ({ ...creationsOf(all.map(numberedDocument)), idsTellTimes: true })
/** Document number n with another time. */
const timed = (n: number, timestamp: string) => {
  const { id, source } = numberedDocument(n)
  return { id, source: Buffer.from(JSON.stringify({ ...(JSON.parse(source.toString()) as object), timestamp })) }
}
const create = (n: number): WriteOp => ({ action: 'create', ...numberedDocument(n) })

/** Segments of so many documents: three of them are more ids than `openIndex` leaves in memory. */
const SEGMENT = 20

async function fill(index: LogIndex, oracle: Oracle, from: number, segments: number): Promise<void> {
  for (let k = 0; k < segments; k++) {
    const all = numbers(from + k * SEGMENT, SEGMENT)
    expect(await index.create!(told(all))).to.have.property('size', 0)
    for (const n of all) oracle.apply(create(n))
    await index.seal()
  }
}

const runsIn = (dir: string) => readdirSync(folderOf(dir)).filter(name => name.endsWith('.ids'))

/** Numbers of the runs that were read since. */
function watchRuns() {
  const reads = new Map<string, number>()
  const paths = new Map<number, string>()
  const files: IndexFiles = {
    ...nodeFiles,
    open(path) {
      const fd = nodeFiles.open(path)
      paths.set(fd, path)
      return fd
    },
    read(fd, length, position) {
      const path = paths.get(fd) ?? ''
      if (/\.ids(\.tmp)?$/.test(path)) reads.set(path, (reads.get(path) ?? 0) + 1)
      return nodeFiles.read(fd, length, position)
    },
  }
  return { files, reads }
}

interface Change {
  readonly kind: 'deleted' | 'flagged' | 'retimed'
  readonly n: number
}
type Step =
  | { readonly kind: 'created' | 'applied'; readonly from: number; readonly count: number }
  | Change
  | { readonly kind: 'seal' | 'maintain' | 'reopen' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('created' as const), from: fc.nat(300), count: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('applied' as const), from: fc.nat(300), count: fc.integer({ min: 1, max: 20 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('deleted' as const, 'flagged' as const, 'retimed' as const), n: fc.nat(300) }),
  },
  { weight: 6, arbitrary: fc.constant({ kind: 'seal' as const }) },
  { weight: 2, arbitrary: fc.constantFrom({ kind: 'maintain' as const }, { kind: 'reopen' as const }) },
)

function opOf(step: Change): WriteOp {
  const { id } = numberedDocument(step.n)
  if (step.kind === 'deleted') return { action: 'delete', id }
  const partial = step.kind === 'flagged' ? '{"is_anomaly":true}' : `{"timestamp":"2026-11-21T00:00:0${step.n % 10}.000Z"}`
  return { action: 'update', id, partial: Buffer.from(partial) }
}

describe('ids on disk', function () {
  this.timeout(60_000)

  it('are found by every write and read, whatever became of their segments', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), steps =>
        withDirectory(async dir => {
          const oracle = createOracle(LOG_MAPPING)
          let index = await openIndex(dir, LOG_MAPPING)
          for (const each of steps) {
            if (each.kind === 'seal') await index.seal()
            if (each.kind === 'maintain') await index.maintain()
            if (each.kind === 'reopen') {
              await index.close()
              index = await openIndex(dir, LOG_MAPPING)
            }
            if (each.kind === 'created') {
              const all = numbers(each.from, each.count)
              const taken = all.filter(n => 'error' in oracle.apply(create(n)))
              const errors = await index.create!(told(all))
              expect([...errors.keys()].map(k => all[k])).to.deep.equal(taken)
            }
            if (each.kind === 'applied' || 'n' in each) {
              const ops = 'n' in each ? [opOf(each)] : numbers(each.from, each.count).map(create)
              const wanted = ops.map(op => ('error' in oracle.apply(op) ? 'error' : 'done'))
              expect((await index.apply(ops)).map(outcome => ('error' in outcome ? 'error' : 'done'))).to.deep.equal(wanted)
            }
          }
          expectSame(index, oracle)
          runs += runsIn(dir).length
          await index.close()
          index = await openIndex(dir, LOG_MAPPING)
          expectSame(index, oracle)
          await index.close()
        }),
      ),
      { numRuns: rounds(40), seed: 11 },
    )
    expect(runs).to.be.above(10)
  })

  it('leave the memory, however many there are', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const oracle = createOracle(LOG_MAPPING)
      await fill(index, oracle, 0, 10)
      const before = index.memoryBytes
      await fill(index, oracle, 200, 25)
      expect(runsIn(dir).length).to.be.above(10)
      expect(index.memoryBytes - before).to.be.below(8 * 25 * SEGMENT)
      await index.close()
    }))

  it('take no memory and no disk for documents that come and go', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      let memory = 0
      for (let k = 0; k < 60; k++) {
        const all = numbers(k * SEGMENT, SEGMENT)
        expect(await index.create!(told(all))).to.have.property('size', 0)
        if (k % 2 === 1) await index.seal()
        await index.apply(all.map((n): WriteOp => ({ action: 'delete', id: numberedDocument(n).id })))
        if (k % 8 === 7) await index.maintain()
        if (k === 19) memory = index.memoryBytes
        expect(runsIn(dir).length).to.be.below(12)
      }
      expect(index.memoryBytes).to.be.below(1.2 * memory)
      expect(Math.max(...runsIn(dir).map(name => Number.parseInt(name, 10))), 'runs that were written').to.be.below(24)
      await index.close()
    }))

  it('are read for a document of their time alone', () =>
    withDirectory(async dir => {
      const { files, reads } = watchRuns()
      const filled = await openIndex(dir, LOG_MAPPING)
      await fill(filled, createOracle(LOG_MAPPING), 0, 8)
      await filled.close()
      const index = await openIndex(dir, LOG_MAPPING, files)
      await index.create!(told([5_000]))
      reads.clear()
      expect(await index.create!(told(numbers(5_001, 5)))).to.have.property('size', 0)
      expect([...reads.values()]).to.deep.equal([])
      expect((await index.create!(told([3]))).size).to.equal(1)
      expect(reads.size).to.be.above(0)
      await index.close()
    }))

  it('are not read for others because of records whose clocks are years off', () =>
    withDirectory(async dir => {
      const { files, reads } = watchRuns()
      let index = await openIndex(dir, LOG_MAPPING, files)
      for (let segment = 0; segment < 40; segment++) {
        const off = [timed(8_000 + segment, '1970-01-01T00:00:01.795Z'), timed(8_100 + segment, '2554-07-21T23:34:33.709551615Z')]
        const all = [...numbers(segment * SEGMENT, SEGMENT).map(numberedDocument), ...off]
        expect(await index.create!({ ...creationsOf(all), idsTellTimes: true })).to.have.property('size', 0)
        await index.seal()
      }
      for (let k = 0; k < 4; k++) await index.maintain()
      await index.close()
      index = await openIndex(dir, LOG_MAPPING, files)
      await index.create!(told([5_100]))
      reads.clear()
      expect(await index.create!(told(numbers(5_000, 5)))).to.have.property('size', 0)
      expect([...reads.values()]).to.deep.equal([])
      const again = [timed(8_003, '1970-01-01T00:00:01.795Z'), timed(8_103, '2554-07-21T23:34:33.709551615Z')]
      expect((await index.create!({ ...creationsOf(again), idsTellTimes: true })).size).to.equal(2)
      await index.close()
    }))

  const odd = { id: numberedDocument(9_000).id, source: numberedDocument(1).source }
  const later = Buffer.from('{"level":"INFO","timestamp":"2026-11-21T00:00:00.000Z"}')
  const asked: readonly (readonly [name: string, write: (index: LogIndex) => Promise<unknown>])[] = [
    ['alone', index => index.apply([{ action: 'index', ...odd }])],
    ['in a bulk that does not say so', index => index.create!(creationsOf([odd]))],
    [
      'in a bulk that says so, though it does not begin with its time',
      index => index.create!({ ...creationsOf([{ ...odd, source: later }]), idsTellTimes: true }),
    ],
    ['before its time was changed', index => changeTime(index)],
  ]
  const changeTime = async (index: LogIndex) => {
    await index.create!(told([9_000]))
    await index.apply([{ action: 'update', id: odd.id, partial: Buffer.from('{"timestamp":"2026-11-21T00:00:00.000Z"}') }])
  }
  for (const [name, write] of asked)
    for (const fate of ['sealed', 'replayed at a start', 'merged'] as const)
      it(`are read for all where one does not, of a document that came ${name} and was ${fate}`, () =>
        withDirectory(async dir => {
          const oracle = createOracle(LOG_MAPPING)
          let index = await openIndex(dir, LOG_MAPPING)
          await write(index)
          if (fate === 'replayed at a start') {
            await index.close()
            index = await openIndex(dir, LOG_MAPPING)
          }
          await fill(index, oracle, 100, fate === 'merged' ? 30 : 8)
          if (fate === 'merged') {
            for (let k = 0; k < 4; k++) await index.maintain()
            await fill(index, oracle, 1_000, 20)
            for (let k = 0; k < 4; k++) await index.maintain()
            expect(index.segments().length).to.be.below(20)
          }
          await index.close()
          index = await openIndex(dir, LOG_MAPPING)
          expect((await index.create!(told([9_000]))).size).to.equal(1)
          await index.close()
        }))

  it('are merged into few runs, and gone with their segments', () =>
    withDirectory(async dir => {
      const oracle = createOracle(LOG_MAPPING)
      let index = await openIndex(dir, LOG_MAPPING)
      await fill(index, oracle, 0, 30)
      const before = runsIn(dir).length
      expect(before).to.be.above(10)
      for (let k = 0; k < 4; k++) await index.maintain()
      expect(runsIn(dir).length).to.be.below(before / 2)
      expectSame(index, oracle)
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expectSame(index, oracle)
      const all = [...oracle.documents.keys()]
      await index.apply(all.map(id => ({ action: 'delete', id })))
      await index.seal()
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expect(runsIn(dir)).to.deep.equal([])
      await index.close()
    }))

  for (const [name, damage] of [
    ['cut', (path: string) => truncateSync(path, 100)],
    ['empty', (path: string) => truncateSync(path, 0)],
    ['of another kind', (path: string) => writeFileSync(path, Buffer.alloc(5_000, 1))],
  ] as const)
    it(`are found all the same where a run is ${name}`, () =>
      withDirectory(async dir => {
        const oracle = createOracle(LOG_MAPPING)
        let index = await openIndex(dir, LOG_MAPPING)
        await fill(index, oracle, 0, 8)
        await index.close()
        for (const run of runsIn(dir)) damage(join(dir, 'index', run))
        index = await openIndex(dir, LOG_MAPPING)
        expect(runsIn(dir)).to.deep.equal([])
        expectSame(index, oracle)
        expect((await index.create!(told(numbers(0, 8 * SEGMENT)))).size).to.equal(8 * SEGMENT)
        expect(runsIn(dir).length).to.be.above(0)
        await index.close()
      }))

  it('of a segment that was merged behind a long tail are found after a restart', () =>
    withDirectory(async dir => {
      const oracle = createOracle(LOG_MAPPING)
      let index = await openIndex(dir, LOG_MAPPING)
      for (let k = 0; k < 8; k++) {
        const all = numbers(3 * k, 3)
        await index.create!(told(all))
        for (const n of all) oracle.apply(create(n))
        await index.seal()
      }
      const tail = numbers(100, 60)
      await index.create!(told(tail))
      for (const n of tail) oracle.apply(create(n))
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      await index.maintain()
      expect(index.segments().length).to.equal(2)
      expect((await index.create!(told([...numbers(0, 24), ...tail]))).size).to.equal(84)
      expectSame(index, oracle)
      await index.close()
    }))

  it('leave no file behind where the disk fails after a run has its name', () =>
    withDirectory(async dir => {
      let isFailing = true
      let renamed = ''
      const files: IndexFiles = {
        ...nodeFiles,
        rename(from, to) {
          renamed = to
          nodeFiles.rename(from, to)
        },
        syncDirectory(path) {
          if (isFailing && renamed.endsWith('.ids')) {
            renamed = ''
            throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'fsync' })
          }
          nodeFiles.syncDirectory(path)
        },
      }
      const oracle = createOracle(LOG_MAPPING)
      const index = await openIndex(dir, LOG_MAPPING, files)
      await fill(index, oracle, 0, 3)
      expect(await index.maintain().catch(({ code }: { code?: string }) => code)).to.equal('EIO')
      expect(runsIn(dir)).to.deep.equal([])
      isFailing = false
      await fill(index, oracle, 100, 4)
      expect(runsIn(dir).length).to.be.above(0)
      expectSame(index, oracle)
      await index.close()
    }))

  it('stay in memory while a disk is full, and go to disk later', () =>
    withDirectory(async dir => {
      let isFull = true
      const files: IndexFiles = {
        ...nodeFiles,
        open(path) {
          if (isFull && path.includes('.ids'))
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'open' })
          return nodeFiles.open(path)
        },
      }
      const oracle = createOracle(LOG_MAPPING)
      const index = await openIndex(dir, LOG_MAPPING, files)
      await fill(index, oracle, 0, 8)
      expect(runsIn(dir)).to.deep.equal([])
      expect(await index.maintain().catch(({ code }: { code?: string }) => code)).to.equal('ENOSPC')
      expectSame(index, oracle)
      isFull = false
      await fill(index, oracle, 200, 4)
      expect(runsIn(dir).length).to.be.above(0)
      expectSame(index, oracle)
      await index.close()
    }))
})

/** Few hashes, those at both ends among them, which several pages of 512 entries may have in common. */
const hashGroup = fc.record({
  hash: fc.oneof(
    fc.constantFrom(0, 1, 0xffff_fffe, 0xffff_ffff),
    fc.nat(30).map(n => (n * 0x9e3779b1) >>> 0),
  ),
  count: fc.constantFrom(0, 1, 2, 7, 511, 512, 513, 1_500),
})

describe('runs of ids', () => {
  const segment = (number: number) => ({ number, firstSeqNo: number, docs: 2 })
  const PLACES = [0, 1].map(doc => placeOf(5, doc))

  /** Eight runs that all have the two documents of the segment with ordinal 5. */
  async function runsOfOneSegment(dir: string): Promise<IdRuns> {
    const runs = new IdRuns(nodeFiles, dir)
    for (let k = 0; k < 8; k++) {
      const words = Uint32Array.of(7, PLACES[0]!, 9, PLACES[1]!)
      runs.take(await runs.write(words, [5], { segments: [segment(1)], times: undefined, replaces: [] }), [5])
    }
    return runs
  }

  it('know nothing of a segment that is gone, also where several had it before they were merged', () =>
    withDirectory(async dir => {
      const runs = await runsOfOneSegment(dir)
      const merged = await runs.merge(() => true)
      expect(merged!.run.count).to.equal(2)
      runs.finishMerge(merged!)
      expect(PLACES.map((place, k) => runs.find([7, 9][k]!, Number.NaN, each => each === place))).to.deep.equal(PLACES)
      runs.forget(5)
      expect([runs.covers(5), runs.mayHold(7, Number.NaN)]).to.deep.equal([false, false])
      runs.close()
    }))

  for (const [name, other] of [
    ['that begins with another document', { ...segment(1), firstSeqNo: 9 }],
    ['with more documents', { ...segment(1), docs: 3 }],
  ] as const)
    it(`know nothing of a segment ${name}, though it has the number of one of theirs`, () =>
      withDirectory(async dir => {
        const written = await runsOfOneSegment(dir)
        written.close()
        const runs = new IdRuns(nodeFiles, dir)
        runs.open(new Map([[5, other]]))
        expect([runs.covers(5), runs.isEmpty, readdirSync(dir)]).to.deep.equal([false, true, []])
      }))

  it('are found at a start by what their segments are, wherever those are now; those that were merged are removed', () =>
    withDirectory(async dir => {
      const written = await runsOfOneSegment(dir)
      const sources = readdirSync(dir)
      const copies = sources.map(name => [join(dir, name), readFileSync(join(dir, name))] as const)
      written.finishMerge((await written.merge(() => true))!)
      written.close()
      // A power cut may bring back names of files that were removed.
      for (const [path, bytes] of copies) writeFileSync(path, bytes)
      const runs = new IdRuns(nodeFiles, dir)
      runs.open(new Map([[3, segment(1)]]))
      expect([runs.covers(3), runs.find(9, Number.NaN, () => true), readdirSync(dir)]).to.deep.equal([
        true,
        placeOf(3, 1),
        ['00000009.ids'],
      ])
      runs.close()
    }))

  it('tell no times once one of those that were merged told none', () =>
    withDirectory(async dir => {
      const runs = new IdRuns(nodeFiles, dir)
      for (let k = 0; k < 8; k++) {
        const times = k === 3 ? undefined : DocumentTimes.ofAll(Float64Array.of(1_000_000 * k))
        runs.take(await runs.write(Uint32Array.of(k, placeOf(k, 0)), [k], { segments: [segment(k)], times, replaces: [] }), [k])
      }
      const mayHold = (k: number, ms: number) => runs.mayHold(k, ms)
      expect([mayHold(2, 2_000_000), mayHold(2, 5_500_000), mayHold(3, 5_500_000)]).to.deep.equal([true, false, true])
      runs.finishMerge((await runs.merge(() => true))!)
      expect([mayHold(2, 2_000_000), mayHold(2, 5_500_000), mayHold(3, 5_500_000)]).to.deep.equal([true, true, true])
      runs.close()
    }))

  it('forget a segment that went while they were merged', () =>
    withDirectory(async dir => {
      const runs = await runsOfOneSegment(dir)
      const merged = await runs.merge(() => true)
      runs.forget(5)
      runs.finishMerge(merged!)
      expect([runs.covers(5), runs.isEmpty, readdirSync(dir)]).to.deep.equal([false, true, []])
    }))

  it('give every place of a hash, on whichever pages they stand, before and after they are merged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(hashGroup, { maxLength: 12 }), { minLength: 8, maxLength: 8 }), all =>
        withDirectory(async dir => {
          const model = new Map<number, number[]>()
          const runs = new IdRuns(nodeFiles, dir)
          for (const [k, groups] of all.entries()) {
            let doc = 0
            const entries = groups.flatMap(({ hash, count }) => Array.from({ length: count }, () => [hash, placeOf(k, doc++)] as const))
            for (const [hash, place] of entries) model.set(hash, [...(model.get(hash) ?? []), place])
            const words = Uint32Array.from(entries.toSorted(([a], [b]) => a - b).flat())
            const content = { segments: [{ number: k, firstSeqNo: k, docs: doc }], times: undefined, replaces: [] }
            runs.take(await runs.write(words, [k], content), [k])
          }
          const expectAll = (places: (all: readonly number[]) => readonly number[]) => {
            for (const hash of new Set([...model.keys(), 1, 0xffff_fffe, 0x8000_0000])) {
              const found: number[] = []
              runs.find(hash, Number.NaN, place => found.push(place) === 0)
              expect(
                found.sort((a, b) => a - b),
                String(hash),
              ).to.deep.equal(places(model.get(hash) ?? []))
            }
          }
          expectAll(places => places)
          const merged = await runs.merge(place => place % 3 > 0)
          if (merged !== undefined) {
            runs.finishMerge(merged)
            expectAll(places => places.filter(place => place % 3 > 0))
          }
          runs.close()
        }),
      ),
      { numRuns: rounds(60), seed: 9 },
    ))

  it('are the same in whichever pieces they are written', () =>
    withDirectory(async dir => {
      const hashes = numbers(0, 5_000).map(n => 3 * n)
      const writer = new IdRunWriter(nodeFiles, dir, 1)
      for (let from = 0; from < hashes.length; from += 700)
        await writer.append(Uint32Array.from(hashes.slice(from, from + 700).flatMap((hash, k) => [hash, placeOf(0, from + k)])))
      const run = await writer.finish({ segments: [segment(1)], times: undefined, replaces: [] })
      expect(hashes.filter((hash, doc) => !run.some(hash, (slot, each) => slot === 0 && each === doc))).to.deep.equal([])
      expect(hashes.filter(hash => run.some(hash + 1, () => true))).to.deep.equal([])
      run.close()
    }))

  it('let others run while they are merged, though hardly a document is left', () =>
    withDirectory(async dir => {
      let turns = 0
      const turnsAtWrite: number[] = []
      const write: IndexFiles['write'] = (...args) => {
        turnsAtWrite.push(turns)
        return nodeFiles.write(...args)
      }
      const runs = new IdRuns({ ...nodeFiles, write }, dir)
      const count = 60_000
      for (let k = 0; k < 8; k++) {
        const words = Uint32Array.from({ length: 2 * count }, (_, at) => (at % 2 === 0 ? at : placeOf(k, at >>> 1)))
        runs.take(await runs.write(words, [k], { segments: [segment(k)], times: undefined, replaces: [] }), [k])
      }
      turnsAtWrite.length = 0
      let isMerging = true
      const others = () => {
        turns++
        if (isMerging) setImmediate(others)
      }
      setImmediate(others)
      const merged = await runs.merge(place => place === placeOf(0, 0))
      isMerging = false
      expect(merged!.run.count).to.equal(1)
      expect(turnsAtWrite[0]).to.be.above(1)
      runs.finishMerge(merged!)
      runs.close()
    }))
})
