import { randomBytes } from 'node:crypto'
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
const MIB = 1024 * 1024

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

  it('takes raw logs that are indexed before new records are refused', async function () {
    this.timeout(180_000)
    const { path } = disk!
    const app = await startStandalone({ DATA_DIR: join(path, 'data') })
    const found = () => countDocuments(app.search, 'service-logs-*')
    let sent = 0
    const send = async (count: number) => {
      const records = Array.from({ length: count }, (_, i) => ({ ...record(sent + i), body: randomBytes(6000).toString('hex') }))
      expect(await postRecords(app.collector, records)).to.equal(200)
      sent += count
    }
    const deletedEarlyBytes = async () => {
      const metrics = await fetch(`${app.agent}/metrics`, { headers: { accept: 'text/plain' } })
      return Number(/^service_agent_bus_deleted_early_bytes (\d+)$/m.exec(await metrics.text())![1])
    }
    const lessThanReserve = () => {
      const { bavail, blocks, bsize } = statfsSync(path)
      return bavail * bsize - (blocks * bsize) / 4 + MIB
    }
    try {
      while (sent < 5_000) await send(50)
      await eventually(async () => expect(await found()).to.equal(sent), { timeoutMs: 60_000 })
      writeFileSync(join(path, 'filler'), Buffer.alloc(lessThanReserve()))
      // Room that was seen counts for a second.
      await eventually(async () => {
        await send(10)
        expect(await deletedEarlyBytes()).to.be.above(MIB)
      })
      await app.kill()
      await app.restart()
      await eventually(async () => expect(await found()).to.equal(sent), { timeoutMs: 60_000 })
      writeFileSync(join(path, 'filler 2'), Buffer.alloc(64 * MIB))
      await eventually(async () => expect(await postRecords(app.collector, [record(0)])).to.equal(503))
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
