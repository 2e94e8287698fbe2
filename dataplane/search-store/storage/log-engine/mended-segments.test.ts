/** A sealed segment whose index is damaged behind a sound directory, while its documents are whole: it is made anew from them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DamagedSegment } from '../damaged-segment.ts'
import type { WriteOp } from '../index-storage.ts'
import { nodeFiles } from './format/index-files.ts'
import { SegmentFile } from './format/segment-file.ts'
import { findDirectory, readDirectory } from './format/segment-index/segment-directory.ts'
import type { LogIndex } from './log-index.ts'
import { expectSame } from './testing/compare.ts'
import { createFailingFiles } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, deletes, numberedDocument, updates } from './testing/numbered-documents.ts'
import { createOracle } from './testing/oracle.ts'
import { folderOf, openIndex, segmentsOf, withDirectory } from './testing/temporary-index.ts'

/** Three sealed segments, with documents of the second that were changed and deleted later, and one that is written to. */
async function written(dir: string) {
  const oracle = createOracle(LOG_MAPPING)
  const index = await openIndex(dir, LOG_MAPPING)
  const write = async (ops: readonly WriteOp[]) => {
    for (const op of ops) oracle.apply(op)
    await index.apply(ops)
  }
  await write(creates(0, 30))
  await index.seal()
  for (let n = 0; n < 10; n++) await write(creates(30 + 4 * n, 4))
  await write([...updates(32, 3), ...deletes(40, 2)])
  await index.seal()
  await write([...creates(70, 30), ...updates(50, 2), ...deletes(54, 2)])
  await index.seal()
  await write([...creates(100, 5), ...deletes(60, 1)])
  await index.close()
  const path = join(folderOf(dir), '00000002.seg')
  const file = new SegmentFile(nodeFiles, path)
  const span = findDirectory(file, file.sizeBytes)!
  const { commitsEnd } = readDirectory(file, span)
  file.close()
  return { path, oracle, bytes: readFileSync(path), commitsEnd: commitsEnd!, directory: span[0] }
}

/** Reads all parts of all segments, passing over damage. */
function readAll(index: LogIndex): number {
  let damages = 0
  const reading = (read: () => unknown) => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      damages++
      return undefined
    }
  }
  for (const segment of index.segments()) {
    for (const field of index.mapping.paths()) {
      reading(() => segment.column(field))
      reading(() => segment.postings(field, 'timeout'))
      reading(() => segment.postings(field, 'no-such-term'))
    }
    reading(() => segment.counts())
    reading(() => segment.valueCounts?.(new Set(['service', 'level'])))
    reading(() => segment.textShapes?.('message'))
    reading(() => segment.mayHoldPair?.('message', 'a', 'b'))
    for (let doc = 0; doc < segment.size; doc++) reading(() => [segment.id(doc), segment.source(doc), segment.seqNo(doc)])
    for (let n = 0; n < 105; n++) reading(() => segment.docsOf?.([numberedDocument(n).id]))
  }
  return damages
}

const flipped = (bytes: Buffer, at: number): Buffer => {
  const wrong = Buffer.from(bytes)
  wrong[at]! ^= 1 << (at % 8)
  return wrong
}

describe('a sealed segment with damage behind its commits', function () {
  this.timeout(120_000)

  it('is made anew from its documents once the damage was seen, wherever it is, and its file goes', () =>
    withDirectory(async dir => {
      const { path, oracle, bytes, commitsEnd, directory } = await written(dir)
      const names = segmentsOf(dir)
      const before = new Map(readdirSync(folderOf(dir)).map(name => [name, readFileSync(join(folderOf(dir), name))]))
      let mended = 0
      for (let k = 0; k < 24; k++) {
        const at = commitsEnd + Math.floor((k * (directory - 1 - commitsEnd)) / 23)
        writeFileSync(path, flipped(bytes, at))
        const index = await openIndex(dir, LOG_MAPPING)
        const damages = readAll(index)
        await index.maintain()
        expect(readAll(index), `byte ${at}`).to.equal(0)
        expectSame(index, oracle)
        const isMended = !segmentsOf(dir).includes('00000002.seg')
        expect(isMended, `byte ${at}, ${damages} damages`).to.equal(damages > 0)
        if (isMended) mended++
        await index.close()
        const again = await openIndex(dir, LOG_MAPPING)
        expectSame(again, oracle)
        await again.close()
        for (const name of readdirSync(folderOf(dir))) if (!before.has(name)) nodeFiles.remove(join(folderOf(dir), name))
        for (const [name, content] of before) writeFileSync(join(folderOf(dir), name), content)
      }
      expect(names).to.include('00000002.seg')
      expect(mended).to.be.above(12)
    }))

  it('stays as it is where its documents are damaged as well, and the others are merged and read', () =>
    withDirectory(async dir => {
      const { path, bytes, commitsEnd } = await written(dir)
      writeFileSync(path, flipped(flipped(bytes, commitsEnd + 40), commitsEnd >> 1))
      const index = await openIndex(dir, LOG_MAPPING)
      expect(readAll(index)).to.be.above(0)
      await index.maintain()
      await index.maintain()
      expect(segmentsOf(dir)).to.include('00000002.seg')
      expect((await index.apply(creates(300, 1)))[0]).to.have.property('result', 'created')
      await index.close()
    }))

  it('waits for a disk that has no room for it, and is made anew then', () =>
    withDirectory(async dir => {
      const { path, oracle, bytes, commitsEnd } = await written(dir)
      writeFileSync(path, flipped(bytes, commitsEnd + 40))
      const files = createFailingFiles()
      const index = await openIndex(dir, LOG_MAPPING, files)
      expect(readAll(index)).to.be.above(0)
      files.fault = operation => (operation === 'write' ? 'ENOSPC' : undefined)
      const failed = await index.maintain().then(
        () => '',
        (error: Error) => error.message,
      )
      expect(failed).to.contain('ENOSPC')
      files.fault = undefined
      await index.maintain()
      expect(readAll(index)).to.equal(0)
      expectSame(index, oracle)
      await index.close()
    }))
})
