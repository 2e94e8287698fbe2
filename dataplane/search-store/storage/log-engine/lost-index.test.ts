/** A sealed segment that has lost its index, or a part of it: the index is made anew from the commits, at every place of the damage and at every stop. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { WriteOp } from '../index-storage.ts'
import { type IndexFiles, nodeFiles } from './format/index-files.ts'
import { SegmentFile } from './format/segment-file.ts'
import { findDirectory, readDirectory } from './format/segment-index/segment-directory.ts'
import type { LogIndex } from './log-index.ts'
import { expectSame } from './testing/compare.ts'
import { createFailingFiles } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes, updates } from './testing/numbered-documents.ts'
import { createOracle, type Oracle } from './testing/oracle.ts'
import { folderOf, openIndex, segmentsOf, withDirectory } from './testing/temporary-index.ts'

const WRITTEN_BEFORE = fileURLToPath(new URL('testing/with-all-log-ids', import.meta.url))

/** Writes to an index and to what it is compared with. */
type Write = (ops: readonly WriteOp[]) => Promise<void>

interface Shape {
  readonly what: string
  /** Leaves the segment that is to be damaged as the first, beside others or alone. */
  write(index: LogIndex, write: Write): Promise<void>
}

const SHAPES: readonly Shape[] = [
  {
    what: 'sealed as it was written',
    async write(index, write) {
      await write(creates(0, 20))
      await write([...updates(0, 3), ...deletes(5, 2)])
      await index.seal()
      await write([...creates(30, 2), ...deletes(8, 2), ...updates(10, 1)])
    },
  },
  {
    what: 'written anew in full blocks',
    async write(index, write) {
      for (let n = 0; n < 10; n++) await write(creates(2 * n, 2))
      await write(updates(0, 3))
      await write(deletes(5, 2))
      await index.seal()
      await write([...creates(30, 2), ...deletes(8, 2), ...updates(10, 1)])
    },
  },
  {
    what: 'merged of others',
    async write(index, write) {
      for (let n = 0; n < 9; n++) {
        await write([...creates(4 * n, 4), ...(n > 0 ? [...updates(4 * n - 3, 1), ...deletes(4 * n - 1, 1)] : [])])
        await index.seal()
      }
      await write(creates(300, 2))
      await index.maintain()
      // The merged segment has a number above that of the tail, which says this.
      await write([...deletes(12, 2), ...updates(20, 1)])
    },
  },
  {
    what: 'the last one, behind which nothing is written',
    async write(index, write) {
      await write(creates(0, 10))
      await index.seal()
      await write(creates(10, 10))
      await write(deletes(3, 4))
      await index.seal()
    },
  },
]

interface Written {
  readonly dir: string
  readonly oracle: Oracle
  readonly name: string
  /** Where the commits of the segment end, and where its directory begins. */
  readonly commitsEnd: number
  readonly directory: number
  readonly bytes: Buffer
}

async function written(dir: string, shape: Shape): Promise<Written> {
  const oracle = createOracle(LOG_MAPPING)
  const index = await openIndex(dir, LOG_MAPPING)
  await shape.write(index, async ops => {
    for (const op of ops) oracle.apply(op)
    await index.apply(ops)
  })
  await index.close()
  const sealed = segmentsOf(dir).flatMap(name => {
    const file = new SegmentFile(nodeFiles, join(folderOf(dir), name))
    const span = findDirectory(file, file.sizeBytes)
    const found = span && { name, directory: span[0], commitsEnd: readDirectory(file, span).commitsEnd! }
    file.close()
    return found === undefined ? [] : [found]
  })
  const last = sealed.at(-1)!
  return { dir, oracle, ...last, bytes: readFileSync(join(folderOf(dir), last.name)) }
}

/** The index in a copy of the directory with another content of the segment is whole, goes on with its numbers, and is whole after another start. */
async function expectWhole({ dir, oracle, name }: Written, bytes: Buffer, what: string): Promise<void> {
  const copy = join(dir, 'damaged')
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy)
  cpSync(folderOf(dir), folderOf(copy), { recursive: true })
  writeFileSync(join(folderOf(copy), name), bytes)
  for (let start = 0; start < 2; start++) {
    const index = await openIndex(copy, LOG_MAPPING)
    try {
      expectSame(index, oracle)
    } catch (error) {
      throw new Error(`${what}, start ${start}`, { cause: error })
    }
    await index.close()
  }
}

const flipped = (bytes: Buffer, at: number, bit: number): Buffer => {
  const wrong = Buffer.from(bytes)
  wrong[at]! ^= 1 << bit
  return wrong
}

const problemOf = (dir: string, files?: IndexFiles): Promise<string> =>
  openIndex(dir, LOG_MAPPING, files).then(
    async index => {
      await index.close()
      return `it opened with ${index.docCount} documents`
    },
    (error: Error) => error.message,
  )

describe('a sealed segment without a sound index', function () {
  this.timeout(120_000)

  for (const shape of SHAPES) {
    it(`is indexed anew from its commits, wherever its file ends behind them (${shape.what})`, () =>
      withDirectory(async dir => {
        const index = await written(dir, shape)
        const { bytes, commitsEnd } = index
        for (let k = 0; k < 5; k++) {
          const end = commitsEnd + Math.floor((k * (bytes.length - 1 - commitsEnd)) / 4)
          await expectWhole(index, bytes.subarray(0, end), `cut at ${end} of ${bytes.length}`)
        }
      }))

    it(`is indexed anew from its commits, whichever byte of its directory is wrong (${shape.what})`, () =>
      withDirectory(async dir => {
        const index = await written(dir, shape)
        const { bytes, directory } = index
        for (let k = 0; k < 9; k++) {
          const at = directory + Math.floor((k * (bytes.length - 1 - directory)) / 8)
          await expectWhole(index, flipped(bytes, at, k % 8), `byte ${at}`)
        }
      }))

    it(`keeps the index from opening where its commits are damaged as well (${shape.what})`, () =>
      withDirectory(async dir => {
        const { name, bytes, commitsEnd } = await written(dir, shape)
        const path = join(folderOf(dir), name)
        for (const end of [commitsEnd, bytes.length - 1])
          for (let k = 0; k < 10; k++) {
            const at = Math.floor((k * (commitsEnd - 1)) / 9)
            const wrong = flipped(bytes.subarray(0, end), at, k % 8)
            writeFileSync(path, wrong)
            expect(await problemOf(dir), `byte ${at} of ${end}`).to.contain(`${path} is damaged`)
            expect(readFileSync(path).equals(wrong), `byte ${at} of ${end}`).to.equal(true)
          }
      }))

    it(`is whole wherever the machine stops while it is indexed anew (${shape.what})`, () =>
      withDirectory(async dir => {
        const index = await written(dir, shape)
        const path = join(folderOf(dir), index.name)
        writeFileSync(path, index.bytes.subarray(0, index.bytes.length - 1))
        const stops = stopsOf(dir)
        await (await openIndex(dir, LOG_MAPPING, stops.files)).close()
        expect(stops.kept.length).to.be.above(2)
        for (const { copy, what } of stops.kept) {
          const again = await openIndex(copy, LOG_MAPPING)
          try {
            expectSame(again, index.oracle)
          } catch (error) {
            throw new Error(what, { cause: error })
          }
          await again.close()
        }
      }))

    it(`is whole once the disk works again which failed while it was indexed anew (${shape.what})`, () =>
      withDirectory(async dir => {
        const index = await written(dir, shape)
        const cut = index.bytes.subarray(0, index.bytes.length - 1)
        let failures = 0
        for (let nth = 0; nth < 24; nth++) {
          const copy = join(dir, 'failing')
          rmSync(copy, { recursive: true, force: true })
          mkdirSync(copy)
          cpSync(folderOf(dir), folderOf(copy), { recursive: true })
          writeFileSync(join(folderOf(copy), index.name), cut)
          const files = createFailingFiles()
          let seen = 0
          files.fault = operation => (operation !== 'read' && seen++ === nth ? 'EIO' : undefined)
          if ((await problemOf(copy, files)).includes('EIO')) failures++
          const again = await openIndex(copy, LOG_MAPPING)
          expectSame(again, index.oracle)
          await again.close()
        }
        expect(failures).to.be.above(2)
      }))
  }

  it('takes nothing of what it was merged from back, whose files are there again', () =>
    withDirectory(async dir => {
      const before = join(dir, 'before')
      const index = await written(dir, {
        what: '',
        async write(open, write) {
          for (let n = 0; n < 9; n++) {
            await write(creates(4 * n, 4))
            await open.seal()
          }
          cpSync(folderOf(dir), before, { recursive: true })
          await open.maintain()
          await write(deletes(0, 7))
        },
      })
      const sources = readdirSync(before).filter(each => each.endsWith('.seg') && !segmentsOf(dir).includes(each))
      expect(sources.length).to.be.above(7)
      for (const name of sources) cpSync(join(before, name), join(folderOf(dir), name))
      await expectWhole(index, index.bytes.subarray(0, index.bytes.length - 1), 'with the files of its sources')
      // One of those has lost its index, too.
      const source = join(folderOf(dir), sources[0]!)
      truncateSync(source, readFileSync(source).length - 1)
      await expectWhole(index, index.bytes.subarray(0, index.bytes.length - 1), 'with a source that is cut')
      await expectWhole(index, index.bytes, 'with a source that is cut, and an index of its own')
    }))

  it('is written to where it is the last one, and whole after a commit that was cut short', () =>
    withDirectory(async dir => {
      const { name, bytes, oracle } = await written(dir, SHAPES.at(-1)!)
      const path = join(folderOf(dir), name)
      writeFileSync(path, bytes.subarray(0, bytes.length - 1))
      const index = await openIndex(dir, LOG_MAPPING)
      for (const ops of [creates(500, 10), deletes(500, 2)]) {
        for (const op of ops) oracle.apply(op)
        await index.apply(ops)
      }
      const copy = join(dir, 'killed')
      cpSync(folderOf(dir), folderOf(copy), { recursive: true })
      await index.close()
      const last = join(folderOf(copy), segmentsOf(copy).at(-1)!)
      const whole = readFileSync(last)
      writeFileSync(last, Buffer.concat([whole, whole.subarray(0, 40)]))
      const again = await openIndex(copy, LOG_MAPPING)
      expectSame(again, oracle)
      await again.close()
    }))
})

describe('a segment that is written to', () => {
  it('keeps the index from opening where its last commit is damaged and was there at a stop: nothing is cut off', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(creates(0, 10))
      const path = join(folderOf(dir), '00000001.seg')
      const first = readFileSync(path).length
      await index.apply(creates(10, 10))
      await index.close()
      const whole = readFileSync(path)
      for (let k = 0; k < 10; k++) {
        const wrong = flipped(whole, first + Math.floor((k * (whole.length - 1 - first)) / 9), k % 8)
        writeFileSync(path, wrong)
        expect(await problemOf(dir)).to.contain(`${path} is damaged at byte ${first}`)
        expect(readFileSync(path).equals(wrong)).to.equal(true)
      }
      writeFileSync(join(folderOf(dir), '00000001.lost'), '')
      expect(await problemOf(dir)).to.equal('it opened with 10 documents')
      expect(await problemOf(dir)).to.equal('it opened with 10 documents')
    }))
})

describe('an index that was written before commits were listed', () => {
  it('opens, is indexed anew from its commits where only its end is wrong, and asks for a file that is short', () =>
    withDirectory(async dir => {
      cpSync(WRITTEN_BEFORE, folderOf(dir), { recursive: true })
      const opened = await problemOf(dir)
      expect(opened).to.match(/^it opened with [1-9]\d* documents$/)
      const rows = () => (JSON.parse(readFileSync(join(folderOf(dir), 'index.json'), 'utf8')) as { segments: unknown[][] }).segments
      expect(rows()[0]).to.have.length(3)
      const path = join(folderOf(dir), '00000001.seg')
      const whole = readFileSync(path)
      truncateSync(path, whole.length - 1)
      expect(await problemOf(dir)).to.contain(`${path} is damaged at byte ${whole.length - 1}`)
      for (const at of [whole.length - 1, whole.length - 100]) {
        writeFileSync(path, flipped(whole, at, 3))
        expect(await problemOf(dir), `byte ${at}`).to.equal(opened)
        expect(await problemOf(dir), `byte ${at}`).to.equal(opened)
        expect(rows()[0]).to.have.length(5)
      }
    }))
})

/** Files that keep a copy of the index before each change: what a machine finds that stops there. */
function stopsOf(dir: string) {
  const kept: { readonly copy: string; readonly what: string }[] = []
  const before =
    <A extends unknown[], R>(name: string, run: (...args: A) => R) =>
    (...args: A): R => {
      const copy = join(dir, `stop-${kept.length}`)
      cpSync(folderOf(dir), folderOf(copy), { recursive: true })
      kept.push({ copy, what: `before ${name} ${typeof args[0] === 'string' ? basename(args[0]) : ''}` })
      return run(...args)
    }
  const files: IndexFiles = {
    ...nodeFiles,
    write: async (fd, bytes, position) => {
      // A write that was cut short.
      await nodeFiles.write(fd, bytes.subarray(0, bytes.length >>> 1), position)
      await before('the rest of a write', nodeFiles.write)(fd, bytes, position)
    },
    writeSync: before('write', nodeFiles.writeSync),
    truncate: before('truncate', nodeFiles.truncate),
    rename: before('rename', nodeFiles.rename),
    remove: before('remove', nodeFiles.remove),
  }
  return { files, kept }
}
