import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { skipBecause } from '../dataplane/testing/skip-because.ts'
import { mountSmallDisk, type SmallDisk } from '../dataplane/testing/small-disk.ts'
import { countDocuments, postRecords, type SentRecord } from './testing/api.ts'
import { eventually, startStandalone } from './testing/standalone-process.ts'

const DISK_MB = 420
/** Less than the bus wants to see free. */
const LEFT_MB = 64

describe('a full disk', () => {
  let disk: SmallDisk | undefined
  beforeEach(function () {
    disk = mountSmallDisk(`${DISK_MB}m`)
    if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
  })
  afterEach(() => disk?.remove())

  it('stops acceptance with 503 and Retry-After, and acceptance goes on when there is room', async function () {
    this.timeout(90_000)
    const { path } = disk!
    const app = await startStandalone({}, { parentDirectory: path })
    try {
      expect(await postRecords(app.collector, [record(1)])).to.equal(200)
      const filler = join(path, 'filler')
      const { bavail, bsize } = statfsSync(path)
      writeFileSync(filler, Buffer.alloc(bavail * bsize - LEFT_MB * 1024 * 1024))
      await eventually(async () => expect(await postRecords(app.collector, [record(2)])).to.equal(503))
      const refused = await fetch(`${app.collector}/v1/logs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'no room' } }] }] }] }),
      })
      expect(refused.status).to.equal(503)
      expect(Number(refused.headers.get('retry-after'))).to.be.at.least(1)
      expect(((await refused.json()) as { error: string }).error)
        .to.be.a('string')
        .and.not.equal('')

      rmSync(filler)
      await eventually(async () => expect(await postRecords(app.collector, [record(3)])).to.equal(200))
      await eventually(async () => {
        const found = await countDocuments(app.search, 'service-logs-*', { terms: { 'record.id': ['disk-1', 'disk-3'] } })
        expect(found).to.equal(2)
      })
    } finally {
      await app.remove()
    }
  })

  it('does not keep a standalone from starting: what is there is found, and acceptance goes on when there is room', async function () {
    this.timeout(90_000)
    const app = await startStandalone({ DATA_DIR: join(disk!.path, 'data') })
    const found = (id: string) => countDocuments(app.search, 'service-logs-*', { term: { 'record.id': id } })
    try {
      expect(await postRecords(app.collector, [record(4)])).to.equal(200)
      await eventually(async () => expect(await found('disk-4')).to.equal(1))
      expect(await app.stop()).to.equal(0)
      const filler = disk!.fill()
      const restarted = app.restart()
      await Promise.race([eventually(async () => expect(await found('disk-4')).to.equal(1), { timeoutMs: 30_000 }), restarted])
      await eventually(async () => expect(await postRecords(app.collector, [record(5)])).to.equal(503), { timeoutMs: 30_000 })
      rmSync(filler)
      await restarted
      await eventually(async () => expect(await postRecords(app.collector, [record(6)])).to.equal(200))
      await eventually(async () => expect(await found('disk-6')).to.equal(1))
    } finally {
      await app.remove()
    }
  })
})

function record(n: number): SentRecord {
  return {
    id: `disk-${n}`,
    service: 'disk',
    severityText: 'INFO',
    body: `record ${n}`,
    attempt: n,
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
  }
}
