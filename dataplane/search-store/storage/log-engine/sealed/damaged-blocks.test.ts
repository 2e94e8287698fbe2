/** A wrong bit in a block or a column: the documents are told to be damaged, or they are as they were. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DamagedSegment } from '../../damaged-segment.ts'
import type { Segment, WriteOp } from '../../index-storage.ts'
import { nodeFiles } from '../format/index-files.ts'
import { SegmentFile } from '../format/segment-file.ts'
import { findDirectory, readDirectory } from '../format/segment-index/segment-directory.ts'
import { createLogDocuments } from '../testing/log-documents.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { folderOf, openIndex, withDirectory } from '../testing/temporary-index.ts'
import { SealedSegment } from './sealed-segment.ts'

/** Whatever is read of each document, by the document; damage is the text of its error. */
function readAll(segment: Segment): string[] {
  return Array.from({ length: segment.size }, (_, doc) => {
    const message = () => Buffer.from(segment.text?.('message', doc) ?? []).toString()
    return [() => segment.id(doc), () => Buffer.from(segment.source(doc)).toString(), message].map(orDamage).join(' ')
  })
}

function orDamage(read: () => string): string {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedSegment) return `damaged: ${error.message}`
    throw error
  }
}

async function reading<T>(dir: string, use: (segment: SealedSegment) => T): Promise<T> {
  const index = await openIndex(dir, LOG_MAPPING)
  try {
    return use(index.segments().find(segment => segment instanceof SealedSegment)!)
  } finally {
    await index.close()
  }
}

describe('a wrong bit in a block', function () {
  this.timeout(60_000)

  for (const [what, count] of [
    ['a block that is packed', 400],
    ['a block that is too small to be packed', 5],
  ] as const)
    it(`is told as damage of its documents, and never read as other text (${what})`, () =>
      withDirectory(async dir => {
        const next = createLogDocuments(7, Date.UTC(2026, 10, 29))
        const index = await openIndex(dir, LOG_MAPPING)
        await index.apply(Array.from({ length: count }, (): WriteOp => ({ action: 'create', ...next() })))
        await index.seal()
        await index.close()
        const path = join(dir, 'index', readdirSync(folderOf(dir)).find(name => name.endsWith('.seg'))!)
        const sound = readFileSync(path)
        const { whole, blocks } = await reading(dir, segment => ({ whole: readAll(segment), blocks: segment.blocks() }))
        let told = 0
        for (const { offset, idsBytes, dataBytes, messageBytes } of blocks)
          for (const [start, length] of [
            [offset, idsBytes],
            [offset + idsBytes, dataBytes],
            [offset + idsBytes + dataBytes, messageBytes],
          ] as const)
            for (let k = 0; k < 12; k++) {
              const wrong = Buffer.from(sound)
              wrong[start + Math.floor((k * length) / 12)]! ^= 1 << (k % 8)
              writeFileSync(path, wrong)
              const found = await reading(dir, readAll)
              let damaged = 0
              for (const [doc, each] of found.entries()) {
                if (each.includes('damaged: ')) damaged++
                else expect(each, `byte ${start} + ${k} of 12ths of ${length}`).to.equal(whole[doc])
              }
              expect(damaged, `byte ${start} + ${k} of 12ths of ${length}`).to.be.above(0)
              expect(found.join()).to.contain(`${path} is damaged at byte ${offset} (`)
              told++
            }
        expect(told).to.equal(36 * blocks.length)
      }))
})

describe('a wrong bit among the ids of a block', () => {
  it('keeps no other document from being written, or from being known', () =>
    withDirectory(async dir => {
      const next = createLogDocuments(7, Date.UTC(2026, 10, 29))
      const documents = Array.from({ length: 400 }, next)
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(documents.map((each): WriteOp => ({ action: 'create', ...each })))
      await index.seal()
      await index.close()
      const path = join(dir, 'index', readdirSync(folderOf(dir)).find(name => name.endsWith('.seg'))!)
      const { offset } = (await reading(dir, segment => segment.blocks()))[0]!
      const wrong = readFileSync(path)
      wrong[offset]! ^= 0x10
      writeFileSync(path, wrong)
      const again = await openIndex(dir, LOG_MAPPING)
      const outcomes = await again.apply([...documents.slice(1), next()].map((each): WriteOp => ({ action: 'create', ...each })))
      expect(outcomes.map(each => ('error' in each ? each.error.status : each.result))).to.deep.equal([...Array(399).fill(409), 'created'])
      await again.close()
    }))
})

describe('an update of a document in a damaged block', () => {
  it('fails alone: other operations of the same commit are done', () =>
    withDirectory(async dir => {
      const next = createLogDocuments(7, Date.UTC(2026, 10, 29))
      const documents = Array.from({ length: 400 }, next)
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(documents.map((each): WriteOp => ({ action: 'create', ...each })))
      await index.seal()
      await index.close()
      const path = join(dir, 'index', readdirSync(folderOf(dir)).find(name => name.endsWith('.seg'))!)
      const { offset, idsBytes } = (await reading(dir, segment => segment.blocks()))[0]!
      const wrong = readFileSync(path)
      wrong[offset + idsBytes + 100]! ^= 0x10
      writeFileSync(path, wrong)
      const again = await openIndex(dir, LOG_MAPPING)
      const partial = Buffer.from('{"is_anomaly":true}')
      const [created, failed, updated] = await again.apply([
        { action: 'create', ...next() },
        { action: 'update', id: documents[0]!.id, partial },
        { action: 'update', id: documents[399]!.id, partial },
      ])
      expect(created).to.have.property('result', 'created')
      expect(updated).to.have.property('result', 'updated')
      expect(failed).to.have.property('error').that.includes({ type: 'damaged_document_exception', status: 503 })
      expect(failed).to.have.nested.property('error.reason').that.contains(`${path} is damaged at byte ${offset} (`)
      await again.close()
    }))
})

describe('a wrong bit in a column', function () {
  this.timeout(60_000)

  it('is told as damage, and never read as other values', () =>
    withDirectory(async dir => {
      const next = createLogDocuments(7, Date.UTC(2026, 10, 29))
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(Array.from({ length: 400 }, (): WriteOp => ({ action: 'create', ...next() })))
      await index.seal()
      await index.close()
      const path = join(dir, 'index', readdirSync(folderOf(dir)).find(name => name.endsWith('.seg'))!)
      const sound = readFileSync(path)
      const file = new SegmentFile(nodeFiles, path)
      const { columns } = readDirectory(file, findDirectory(file, sound.length)!)
      file.close()
      let told = 0
      for (const [field, { values, dictionary }] of columns) {
        const whole = await reading(dir, segment => JSON.stringify(valuesOf(segment, field)))
        for (const [at, bytes] of [values, dictionary ?? []])
          for (let k = 0; k < 8 && at !== undefined; k++) {
            const wrong = Buffer.from(sound)
            wrong[at + Math.floor((k * bytes!) / 8)]! ^= 1 << k
            writeFileSync(path, wrong)
            const found = await reading(dir, segment => orDamage(() => JSON.stringify(valuesOf(segment, field))))
            // Some bits of a frame mean nothing.
            if (found === whole) continue
            expect(found, `${field}: byte ${at} + ${k} of 8ths of ${bytes}`).to.contain(`damaged: ${path} is damaged at byte `)
            told++
          }
        writeFileSync(path, sound)
      }
      expect(told).to.be.above(100)
    }))
})

function valuesOf(segment: SealedSegment, field: string): unknown {
  const column = segment.column(field)
  return column?.kind === 'number' ? [...column.values] : [column?.codes, column?.dictionary]
}
