import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { skipBecause } from '../dataplane/testing/skip-because.ts'
import { countDocuments, postRecords, type SentRecord } from './testing/api.ts'
import { eventually, startStandalone } from './testing/standalone-process.ts'

const DISK_MB = 420
/** Less than the bus wants to see free. */
const LEFT_MB = 64

describe('a full disk', () => {
  let disk: string
  let isMounted = false
  before(() => {
    disk = mkdtempSync(join(tmpdir(), 'logpipeline-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk], { stdio: 'ignore' })
      isMounted = true
    } catch {
      isMounted = false
    }
  })
  after(() => {
    if (isMounted) execFileSync('umount', ['--lazy', disk])
    rmSync(disk, { recursive: true, force: true })
  })

  it('stops acceptance with 503 and Retry-After, and acceptance goes on when there is room', async function () {
    this.timeout(90_000)
    if (!isMounted) skipBecause(this, 'mounting a small disk needs root')
    const app = await startStandalone({}, { parentDirectory: disk })
    try {
      expect(await postRecords(app.collector, [record(1)])).to.equal(200)
      const filler = join(disk, 'filler')
      const { bavail, bsize } = statfsSync(disk)
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
