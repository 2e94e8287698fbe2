import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import type { WriteOp } from '../index-storage.ts'
import { createCommitQueue } from './commit-queue.ts'
import { type DocumentDatabase, openDocumentDatabase } from './document-database.ts'
import { openDocumentTable } from './document-table.ts'

const CONFIG = { name: 'table', uuid: 'table', createdAtMs: 0, mapping: mappingConfigOf({}, 1_000) }

const put = (id: string, value: number): WriteOp => ({ action: 'index', id, source: Buffer.from(JSON.stringify({ value })) })

/** A table whose disk works when it is told to. */
function openTable(dir: string) {
  const database = openDocumentDatabase(join(dir, 'store.db'))
  const disk: { fails?: Error; waits?: Promise<void> } = {}
  const slow: DocumentDatabase = {
    ...database,
    async transactionInTurns(body, takeBack) {
      await database.transactionInTurns(body, takeBack)
      await disk.waits
      if (disk.fails === undefined) return
      database.transaction(takeBack)
      throw disk.fails
    },
  }
  return { database, disk, table: openDocumentTable(CONFIG, slow, createCommitQueue(slow)) }
}

describe('commits of small indices', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'table-commits-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  it('let others run while the disk works, and count once it has', async () => {
    const { database, disk, table } = openTable(dir)
    let done = () => {}
    disk.waits = new Promise(resolve => {
      done = resolve
    })
    const first = table.apply([put('a', 1)])
    await new Promise(resolve => setImmediate(() => setImmediate(() => setImmediate(resolve))))
    expect(table.get('a')).to.equal(undefined)
    const second = table.apply([put('a', 2), put('b', 1)])
    await table.putMapping({ more: { type: 'keyword' } })
    done()
    expect((await first).map(outcome => 'version' in outcome && outcome.version)).to.deep.equal([1])
    expect((await second).map(outcome => 'seqNo' in outcome && outcome.seqNo)).to.deep.equal([1, 2])
    database.close()
    const again = openTable(dir)
    expect(again.table.get('a')).to.include({ seqNo: 1, version: 2 })
    expect(again.table.get('b')).to.include({ seqNo: 2, version: 1 })
    expect((await again.table.apply([put('c', 1)])).map(outcome => 'seqNo' in outcome && outcome.seqNo)).to.deep.equal([3])
    again.database.close()
  })

  it('are taken back where the disk fails, and may be sent again', async () => {
    const { database, disk, table } = openTable(dir)
    await table.apply([put('a', 1), put('b', 1)])
    disk.fails = Object.assign(new Error('EIO: simulated'), { code: 'EIO', syscall: 'fdatasync' })
    const refused = await table.apply([put('a', 2), { action: 'delete', id: 'b' }, put('c', 2)])
    expect(refused.map(outcome => 'error' in outcome && outcome.error.status)).to.deep.equal([429, 429, 429])
    database.close()
    const again = openTable(dir)
    expect(again.table.docCount).to.equal(2)
    expect(again.table.get('a')).to.include({ seqNo: 0, version: 1 })
    expect((await again.table.apply([put('c', 2)])).map(outcome => 'seqNo' in outcome && outcome.seqNo)).to.deep.equal([2])
    again.database.close()
  })
})
