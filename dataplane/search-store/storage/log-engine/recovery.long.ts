import { spawn } from 'node:child_process'
import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { WriteOp } from '../index-storage.ts'
import type { LogIndex } from './log-index.ts'
import { expectSame } from './testing/compare.ts'
import { createFailingFiles } from './testing/failing-files.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { creates, numberedDocument } from './testing/numbered-documents.ts'
import { createOracle } from './testing/oracle.ts'
import { folderOf, openIndex, withDirectory } from './testing/temporary-index.ts'

/** Ids of the living documents in order of arrival. */
function ids(index: LogIndex): string[] {
  return index.segments().flatMap(segment =>
    Array.from({ length: segment.size }, (_, doc) => doc)
      .filter(doc => segment.isLive(doc))
      .map(doc => segment.id(doc)),
  )
}

const numbersOf = (index: LogIndex) => ids(index).map(id => Number(id.slice(0, 8)))
const range = (from: number, count: number) => Array.from({ length: count }, (_, k) => from + k)

describe('recovery', function () {
  this.timeout(30_000)

  it('keeps what was acknowledged when the last frame is torn at any byte', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(creates(0, 20))
      const folder = folderOf(dir)
      const [name] = readdirSync(folder).filter(each => each.endsWith('.seg'))
      const { size: before } = statSync(join(folder, name!))
      await index.apply([...creates(20, 2), { action: 'delete', id: numberedDocument(3).id }])
      const { size: after } = statSync(join(folder, name!))
      const saved = join(dir, 'saved')
      copyFileSync(join(folder, name!), saved)
      for (let size = before; size < after; size++) {
        copyFileSync(saved, join(folder, name!))
        truncateSync(join(folder, name!), size)
        const again = await openIndex(dir, LOG_MAPPING)
        expect(numbersOf(again)).to.deep.equal(range(0, 20))
        await again.close()
      }
      copyFileSync(saved, join(folder, name!))
      const whole = await openIndex(dir, LOG_MAPPING)
      expect(numbersOf(whole)).to.deep.equal(range(0, 22).filter(n => n !== 3))
      await whole.close()
      await index.close()
    }))

  it('goes on writing behind a torn frame', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(creates(0, 5))
      await index.apply(creates(5, 5))
      const folder = folderOf(dir)
      const path = join(folder, readdirSync(folder).find(each => each.endsWith('.seg'))!)
      truncateSync(path, statSync(path).size - 3)
      const again = await openIndex(dir, LOG_MAPPING)
      await again.apply(creates(100, 5))
      const third = await openIndex(dir, LOG_MAPPING)
      expect(numbersOf(third)).to.deep.equal([...range(0, 5), ...range(100, 5)])
      await Promise.all([index.close(), again.close(), third.close()])
    }))

  it('has every acknowledged document exactly once after kill -9 under load', () =>
    withDirectory(async dir => {
      const acknowledged = new Set<number>()
      let first = 0
      for (let round = 0; round < 4; round++) {
        await killWriter(dir, first, 400 + 211 * round, acknowledged)
        first += 1_000_000
      }
      const index = await openIndex(dir, LOG_MAPPING)
      const found = numbersOf(index)
      expect(new Set(found).size).to.equal(found.length)
      const all = new Set(found)
      for (const n of acknowledged) expect(all.has(n), `document ${n}`).to.equal(true)
      for (const n of found.filter((_, k) => k % 7 === 0)) {
        const stored = JSON.parse(Buffer.from(index.get(numberedDocument(n).id)!.source).toString()) as object
        const wanted = JSON.parse(numberedDocument(n).source.toString()) as object
        expect(stored).to.deep.equal(
          acknowledged.has(n) && n % 16 === 0
            ? { ...wanted, is_anomaly: true }
            : { ...wanted, is_anomaly: (stored as { is_anomaly: boolean }).is_anomaly },
        )
      }
      for (const n of found.slice(-20))
        expect(
          index
            .segments()
            .reduce((sum, each) => sum + [...each.postings('message', `number${n}`)!].filter(doc => each.isLive(doc)).length, 0),
        ).to.equal(1)
      // Ids of most of them stand in runs on disk, which the kills met at work.
      expect(readdirSync(folderOf(dir)).some(name => name.endsWith('.ids'))).to.equal(true)
      const again = await index.apply(found.map(n => ({ action: 'create', ...numberedDocument(n) })))
      expect(found.filter((_, k) => !('error' in again[k]!))).to.deep.equal([])
      await index.close()
    }))

  it('takes a write back whole when the disk is full, and goes on when there is room', () =>
    withDirectory(async dir => {
      const files = createFailingFiles()
      const oracle = createOracle(LOG_MAPPING)
      const index = await openIndex(dir, LOG_MAPPING, files)
      const write = async (ops: readonly WriteOp[]) => {
        for (const op of ops) oracle.apply(op)
        await index.apply(ops)
      }
      await write(creates(0, 30))
      files.room = 700
      const refused = await index.apply([
        ...creates(30, 20),
        { action: 'delete', id: numberedDocument(1).id },
        { action: 'update', id: numberedDocument(2).id, partial: Buffer.from('{"new_field":"x"}') },
      ])
      for (const outcome of refused) expect(outcome).to.have.nested.property('error.status', 429)
      expect(index.mapping.field('new_field')).to.equal(undefined)
      expectSame(index, oracle)
      const seal = await index.seal().then(
        () => 'sealed',
        (error: Error) => error.message,
      )
      expect(seal).to.match(/ENOSPC/)
      expectSame(index, oracle)
      files.room = Number.POSITIVE_INFINITY
      await write([...creates(30, 20), { action: 'delete', id: numberedDocument(1).id }])
      expectSame(index, oracle)
      await index.seal()
      expectSame(index, oracle)
      await index.close()
      const again = await openIndex(dir, LOG_MAPPING)
      expectSame(again, oracle)
      await again.close()
    }))

  it('acknowledges nothing that could not be synced', () =>
    withDirectory(async dir => {
      const files = createFailingFiles()
      const index = await openIndex(dir, LOG_MAPPING, files)
      await index.apply(creates(0, 3))
      files.failSyncs = true
      const outcomes = await index.apply(creates(3, 3))
      for (const outcome of outcomes) expect(outcome).to.have.nested.property('error.status', 507)
      files.failSyncs = false
      const again = await openIndex(dir, LOG_MAPPING)
      expect(numbersOf(again)).to.deep.equal(range(0, 3))
      await index.apply(creates(10, 1))
      expect(numbersOf(index)).to.deep.equal([0, 1, 2, 10])
      await Promise.all([index.close(), again.close()])
    }))
})

/** Lets a child write until it has acknowledged about `count` documents, then kills it. */
async function killWriter(dir: string, first: number, count: number, acknowledged: Set<number>): Promise<void> {
  const script = fileURLToPath(new URL('testing/writer-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, dir, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('open')) continue
    acknowledged.add(Number(line))
    if (++seen === count) child.kill('SIGKILL')
  }
}
