/** Files of an index that are gone, emptied or cut while nobody looks: an index that opens has every document that was acknowledged. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogIndex } from './log-index.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes } from './testing/numbered-documents.ts'
import { folderOf, openIndex, withDirectory } from './testing/temporary-index.ts'

const WRITTEN_BEFORE = fileURLToPath(new URL('testing/with-all-log-ids', import.meta.url))

const problemOf = (dir: string): Promise<string> =>
  openIndex(dir, LOG_MAPPING).then(
    async index => {
      await index.close()
      return `it opened with ${index.docCount} documents`
    },
    (error: Error) => error.message,
  )

async function segment(index: LogIndex, from: number, count: number): Promise<void> {
  await index.apply(creates(from, count))
  await index.seal()
}

/** Two sealed segments, one of them with a deletion, and a tail. */
async function written(dir: string): Promise<(name: string) => string> {
  const index = await openIndex(dir, LOG_MAPPING)
  await segment(index, 0, 300)
  await index.apply(deletes(0, 1))
  await segment(index, 300, 300)
  await index.apply(creates(600, 5))
  await index.close()
  return name => join(dir, 'index', name)
}

/** The least length that the list of segments gives a segment: that of its commits. */
const listedBytes = (dir: string, name: string): number =>
  (JSON.parse(readFileSync(join(dir, 'index', 'index.json'), 'utf8')) as { segments: [number, number][] }).segments.find(
    ([number]) => number === Number.parseInt(name, 10),
  )![1]

describe('a segment that was copied over another', () => {
  it('keeps the index from opening, which is as it was once the file is back, and opens without it once its loss is accepted', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await segment(index, 0, 100)
      await segment(index, 100, 300)
      await index.close()
      const [first, second] = ['00000001', '00000002'].map(name => join(dir, 'index', `${name}.seg`)) as [string, string]
      const bytes = readFileSync(first)
      cpSync(second, first)
      expect(await problemOf(dir)).to.contain(`${first} and ${second} hold the same documents`)
      expect(readFileSync(first).equals(readFileSync(second))).to.equal(true)
      writeFileSync(first, bytes)
      expect(await problemOf(dir)).to.equal('it opened with 400 documents')
      cpSync(second, first)
      rmSync(first)
      writeFileSync(first.replace(/seg$/, 'lost'), '')
      expect(await problemOf(dir)).to.equal('it opened with 300 documents')
    }))
})

describe('a file of an index', function () {
  this.timeout(30_000)

  for (const name of ['00000001.seg', '00000002.seg', '00000003.seg'])
    for (const [what, lose, told] of [
      ['missing', (path: string) => rmSync(path), (path: string, bytes: number) => `${path} is missing: it had at least ${bytes} bytes`],
      [
        'empty',
        (path: string) => truncateSync(path),
        (path: string, bytes: number) => `${path} is damaged at byte 0: it ends there, and had at least ${bytes} bytes`,
      ],
      [
        'a byte short of its commits',
        (path: string, bytes: number) => truncateSync(path, bytes - 1),
        (path: string, bytes: number) => `${path} is damaged at byte ${bytes - 1}: it ends there, and had at least ${bytes} bytes`,
      ],
    ] as const)
      it(`that is ${what} keeps the index from opening, which changes nothing (${name})`, () =>
        withDirectory(async dir => {
          const path = (await written(dir))(name)
          const whole = readFileSync(path)
          const bytes = listedBytes(dir, name)
          lose(path, bytes)
          const before = readdirSync(folderOf(dir))
          expect(await problemOf(dir))
            .to.contain(told(path, bytes))
            .and.contain(`touch ${path.replace(/seg$/, 'lost')}`)
          expect(readdirSync(folderOf(dir))).to.deep.equal(before)
          writeFileSync(path, whole)
          expect(await problemOf(dir)).to.equal('it opened with 604 documents')
        }))

  it('that was cut between two commits is told: what is left is sound by itself', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const path = join(dir, 'index', '00000001.seg')
      await index.apply(creates(0, 100))
      const { size } = statSync(path)
      await index.apply(creates(100, 100))
      await index.seal()
      await index.close()
      truncateSync(path, size)
      expect(await problemOf(dir)).to.contain(`${path} is damaged at byte ${size}`)
    }))

  it('that is missing is told while the index was not closed either, once the next segment was begun', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await segment(index, 0, 300)
      cpSync(folderOf(dir), join(dir, 'killed', 'index'), { recursive: true })
      await index.close()
      rmSync(join(dir, 'killed', 'index', '00000001.seg'))
      expect(await problemOf(join(dir, 'killed'))).to.contain('00000001.seg is missing')
    }))

  it('of deletions that is missing is told: the documents would come back', () =>
    withDirectory(async dir => {
      const path = (await written(dir))('00000001.del')
      rmSync(path)
      expect(await problemOf(dir)).to.contain(`${path} is missing or damaged: it names 0 deleted documents, and named at least 1`)
    }))

  it('that names the segments is told where it is missing, empty, or has a wrong byte', () =>
    withDirectory(async dir => {
      const path = (await written(dir))('index.json')
      const whole = readFileSync(path)
      rmSync(path)
      expect(await problemOf(dir)).to.contain(`${path} is missing`)
      writeFileSync(path, '')
      expect(await problemOf(dir)).to.contain(`${path} is damaged: it is empty`)
      for (let at = 0; at < whole.length; at += 7) {
        const wrong = Buffer.from(whole)
        wrong[at]! ^= 0x01
        writeFileSync(path, wrong)
        expect(await problemOf(dir), `byte ${at}`).to.contain(`${path} is damaged`)
      }
      writeFileSync(path, whole)
      expect(await problemOf(dir)).to.equal('it opened with 604 documents')
    }))

  it('whose loss is accepted by hand is not asked for again', () =>
    withDirectory(async dir => {
      const path = await written(dir)
      rmSync(path('00000001.seg'))
      writeFileSync(path('00000001.lost'), '')
      expect(await problemOf(dir)).to.equal('it opened with 305 documents')
      expect(existsSync(path('00000001.lost'))).to.equal(false)
      expect(await problemOf(dir)).to.equal('it opened with 305 documents')
      rmSync(path('00000002.seg'))
      expect(await problemOf(dir)).to.contain('00000002.seg is missing')
    }))
})

describe('a merge', function () {
  this.timeout(30_000)

  it('that was cut short is no loss, with its sources or in their place; then the merged segment is asked for', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      for (let n = 0; n < 9; n++) await segment(index, 100 * n, 20)
      const folder = folderOf(dir)
      const before = join(dir, 'before')
      cpSync(folder, join(before, 'index'), { recursive: true })
      await index.maintain()
      const merged = readdirSync(folder).find(name => name.endsWith('.seg') && !existsSync(join(before, 'index', name)))!
      // As a stop leaves them before the merged segment has its name.
      const list = readFileSync(join(folder, 'index.json'))
      writeFileSync(join(before, 'index', 'index.json'), list)
      expect(await problemOf(before)).to.equal('it opened with 180 documents')
      await index.close()
      rmSync(join(folder, merged))
      expect(await problemOf(dir)).to.contain(`${merged} is missing`)
    }))

  it('of segments all of whose documents are deleted leaves nothing to ask for', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await segment(index, 0, 20)
      await segment(index, 20, 20)
      await index.apply(deletes(0, 20))
      expect(readdirSync(folderOf(dir))).not.to.include('00000001.seg')
      await index.close()
      expect(await problemOf(dir)).to.equal('it opened with 20 documents')
    }))
})

describe('an index that a version without the list of segments wrote', () => {
  it('opens as it is, and has the list from its next stop on', () =>
    withDirectory(async dir => {
      const folder = folderOf(dir)
      cpSync(WRITTEN_BEFORE, folder, { recursive: true })
      expect(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))).not.to.have.property('segments')
      const opened = await problemOf(dir)
      expect(opened).to.match(/^it opened with [1-9]\d* documents$/)
      expect(await problemOf(dir)).to.equal(opened)
      rmSync(join(folder, '00000001.seg'))
      expect(await problemOf(dir)).to.contain('00000001.seg is missing')
    }))
})
