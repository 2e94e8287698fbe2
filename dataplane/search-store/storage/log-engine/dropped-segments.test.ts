/** Segments all of whose documents are deleted go, whenever the process or the machine stops. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { WriteOp } from '../index-storage.ts'
import { type IndexFiles, nodeFiles } from './format/index-files.ts'
import type { LogIndex } from './log-index.ts'
import { expectSame } from './testing/compare.ts'
import { createFailingFiles } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes, numberedDocument } from './testing/numbered-documents.ts'
import { createOracle } from './testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from './testing/temporary-index.ts'

const filesOf = (dir: string) => readdirSync(folderOf(dir)).filter(name => name.endsWith('.seg') || name.endsWith('.del'))

describe('segments without a living document', function () {
  this.timeout(60_000)

  it('are gone from the disk as soon as the last document is deleted or written anew', () =>
    withDirectory(async dir => {
      const oracle = createOracle(LOG_MAPPING)
      let index = await openIndex(dir, LOG_MAPPING)
      const write = async (ops: readonly WriteOp[]) => {
        for (const op of ops) oracle.apply(op)
        await index.apply(ops)
      }
      for (let from = 0; from < 90; from += 30) {
        await write(creates(from, 30))
        await index.seal()
      }
      const [query] = index.segments()
      await write(deletes(0, 29))
      expect(filesOf(dir)).to.have.length(4)
      await write(deletes(29, 1))
      expect(filesOf(dir)).to.deep.equal(['00000002.seg', '00000003.seg', '00000004.seg'])
      expect(Buffer.from(query!.source(7)).toString()).to.equal(numberedDocument(7).source.toString())
      await write(creates(30, 30).map(op => ({ ...op, action: 'index' }) as WriteOp))
      expect(filesOf(dir)).to.deep.equal(['00000003.seg', '00000004.seg'])
      expectSame(index, oracle)
      await write(creates(0, 5))
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      expectSame(index, oracle)
      await index.close()
    }))

  it('go when the tail is sealed, too, and sequence numbers never come again', () =>
    withDirectory(async dir => {
      let index = await openIndex(dir, LOG_MAPPING)
      await index.apply([...creates(0, 20), ...deletes(0, 20)])
      await index.seal()
      expect(filesOf(dir)).to.deep.equal(['00000002.seg'])
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      const [outcome] = await index.apply(creates(0, 1))
      expect(outcome).to.include({ result: 'created', seqNo: 40 })
      await index.close()
    }))

  it('go when a merge during which they died is over', () =>
    withDirectory(async dir => {
      const oracle = createOracle(LOG_MAPPING)
      let index = await openIndex(dir, LOG_MAPPING)
      const write = async (ops: readonly WriteOp[]) => {
        for (const op of ops) oracle.apply(op)
        await index.apply(ops)
      }
      for (let n = 0; n < 9; n++) {
        await write(creates(n * 10, 10))
        await index.seal()
      }
      const merging = index.maintain()
      await write(deletes(0, 90))
      await merging
      expect(filesOf(dir)).to.deep.equal(['00000010.seg'])
      await index.close()
      for (let round = 0; round < 3; round++) {
        index = await openIndex(dir, LOG_MAPPING)
        expectSame(index, oracle)
        await write(creates(1_000 + round * 10, 10))
        await index.close()
        index = await openIndex(dir, LOG_MAPPING)
        await write(deletes(1_000 + round * 10, 3))
        if (round === 1) await index.seal()
        expectSame(index, oracle)
        await index.close()
      }
    }))

  it('never give their number to another, whose documents would count as theirs', () =>
    withDirectory(async dir => {
      let index = await openIndex(dir, LOG_MAPPING)
      const small = async (from: number) => {
        for (let n = 0; n < 8; n++) {
          await index.apply(creates(from + 5 * n, 5))
          await index.seal()
        }
      }
      // Segments beyond a large one are merged among themselves, the newest first.
      await small(0)
      await index.apply(creates(1_000, 57_400))
      await index.seal()
      await small(100_000)
      await index.apply(creates(200_000, 5))
      await index.maintain()
      await index.apply(deletes(100_000, 40))
      const alive = 40 + 57_400 + 5
      for (let start = 0; start < 2; start++) {
        await index.close()
        index = await openIndex(dir, LOG_MAPPING)
        expect(index.docCount).to.equal(alive)
        await index.maintain()
        expect(index.docCount).to.equal(alive)
      }
      await index.close()
    }))

  /** Nine segments, merged into one, and a tail. */
  const openMerged = async (dir: string, files: IndexFiles) => {
    const index = await openIndex(dir, LOG_MAPPING, files)
    for (let from = 0; from < 90; from += 10) {
      await index.apply(creates(from, 10))
      await index.seal()
    }
    await index.apply(creates(100, 5))
    await index.maintain()
    return index
  }
  const expectAllowed = async ({ kept }: ReturnType<typeof recordStops>) => {
    expect(kept.length).to.be.above(8)
    for (const { copy, allowed, what } of kept) {
      const again = await openIndex(copy, LOG_MAPPING)
      const found = JSON.stringify(numbersOf(again))
      await again.close()
      expect(
        allowed.map(each => JSON.stringify(each)),
        what,
      ).to.include(found)
    }
  }

  it('come back at no stop between two writes, in whatever order the disk keeps removals', () =>
    withDirectory(async dir => {
      const stops = recordStops(dir)
      const index = await openMerged(dir, stops.files)
      // The deletions of some of it are in a `.del` when the rest dies.
      await index.apply(deletes(0, 40))
      await index.seal()
      await index.apply(creates(200, 5))
      const after = [...range(100, 5), ...range(200, 5)]
      stops.expect([...range(40, 50), ...after], after)
      await index.apply(deletes(40, 50))
      stops.expect(after, [...after, 300])
      await index.apply(creates(300, 1))
      stops.end()
      await index.close()
      await expectAllowed(stops)
    }))

  it('bring none of those back that they were merged from', () =>
    withDirectory(async dir => {
      const stops = recordStops(dir)
      const index = await openMerged(dir, stops.files)
      stops.expect([...range(0, 90), ...range(100, 5)], range(100, 5))
      await index.apply(deletes(0, 90))
      await index.seal()
      stops.expect(range(100, 5))
      stops.end()
      await index.close()
      await expectAllowed(stops)
    }))

  it('stay for the next time when the disk fails, and nothing else does', () =>
    withDirectory(async dir => {
      const files = createFailingFiles()
      let fails = true
      const remove = (path: string) => {
        if (fails && path.endsWith('.seg')) throw Object.assign(new Error('EIO: simulated'), { code: 'EIO', syscall: 'unlink' })
        nodeFiles.remove(path)
      }
      const index = await openIndex(dir, LOG_MAPPING, { ...files, remove })
      await index.apply(creates(0, 10))
      await index.seal()
      const outcomes = await index.apply(deletes(0, 10))
      expect(outcomes.every(outcome => 'result' in outcome && outcome.result === 'deleted')).to.equal(true)
      expect(filesOf(dir)).to.have.length(2)
      fails = false
      await index.apply(creates(20, 1))
      expect(filesOf(dir)).to.deep.equal(['00000002.seg'])
      await index.close()
    }))
})

const range = (from: number, count: number) => Array.from({ length: count }, (_, k) => from + k)

function numbersOf(index: LogIndex): readonly number[] {
  return index
    .segments()
    .flatMap(segment =>
      range(0, segment.size)
        .filter(doc => segment.isLive(doc))
        .map(doc => Number(segment.id(doc).slice(0, 8))),
    )
    .sort((a, b) => a - b)
}

interface Stop {
  readonly copy: string
  readonly what: string
  readonly allowed: readonly (readonly number[])[]
}

/** Files that keep, before each change, what a machine that stops there may find: removals count in any order until the directory is synced. */
function recordStops(dir: string) {
  const kept: Stop[] = []
  let allowed: readonly (readonly number[])[] | undefined
  let removed: { readonly name: string; readonly bytes: Buffer }[] = []

  const keep = (what: string) => {
    if (allowed === undefined) return
    for (let undone = 0; undone < 1 << Math.min(removed.length, 6); undone++) {
      const copy = join(dir, `stop-${kept.length}`)
      cpSync(folderOf(dir), folderOf(copy), { recursive: true })
      const back = removed.slice(-6).filter((_, at) => (undone & (1 << at)) !== 0)
      for (const { name, bytes } of back) writeFileSync(join(folderOf(copy), name), bytes)
      kept.push({ copy, what: `${what}; back: ${back.map(({ name }) => name).join(' ')}`, allowed })
    }
  }
  const before = <A extends unknown[], R>(name: string, run: (...args: A) => R) => {
    return (...args: A): R => {
      keep(`before ${name} ${typeof args[0] === 'string' ? basename(args[0]) : ''}`)
      return run(...args)
    }
  }
  const files: IndexFiles = {
    ...nodeFiles,
    open: before('open', nodeFiles.open),
    write: before('write', nodeFiles.write),
    writeSync: before('write', nodeFiles.writeSync),
    truncate: before('truncate', nodeFiles.truncate),
    rename: before('rename', nodeFiles.rename),
    remove: before('remove', (path: string) => {
      const name = basename(path)
      if (readdirSync(folderOf(dir)).includes(name)) removed.push({ name, bytes: readFileSync(path) })
      rmSync(path, { force: true })
    }),
    syncDirectory: before('sync of the directory', (path: string) => {
      nodeFiles.syncDirectory(path)
      removed = []
    }),
  }
  return {
    files,
    kept,
    /** From here on these documents may be found, or those. */
    expect(...either: readonly (readonly number[])[]) {
      if (allowed !== undefined) keep('at rest')
      allowed = either
    },
    end() {
      keep('at the end')
      allowed = undefined
    },
  }
}
