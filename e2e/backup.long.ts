import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { countDocuments, incidents, postRecords, type SentRecord, scanLogs } from './testing/api.ts'
import { eventually, PROGRAM, type Standalone, startStandalone } from './testing/standalone-process.ts'

const SENDERS = 3
/** The load is there at each moment of a backup; how many records it has does not matter. */
const RECORDS_A_REQUEST = 20
const BATCH_PAUSE_MS = 10

describe('logpipeline backup and restore', () => {
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-backup-'))
  const backupDir = join(directory, 'backup')
  let app: Standalone

  before(async function () {
    this.timeout(60_000)
    app = await startStandalone()
  })

  after(async () => {
    await app.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  it('beside a standalone under load: a new place has every record that was acknowledged before, once, and goes on', async function () {
    this.timeout(180_000)
    const load = startLoad(app)
    await eventually(async () => expect((await incidents(app.ticketing)).length).to.be.greaterThan(0))
    const key = (await run(['keys', 'create', '--tenant', 'shop'], app.dataDir)).stdout.trim()
    const acknowledgedBefore = new Set(load.acknowledged)
    const incidentsBefore = await incidents(app.ticketing)
    const made = await run(['backup', backupDir], app.dataDir)
    expect(made).to.include({ code: 0, stderr: '' })
    expect(made.stdout).to.match(/^backup of .+: \d+ files, [\d.]+ MB, in [\d.]+ s\n$/)
    const acknowledgedDuring = load.acknowledged.size
    await sleep(300)
    expect(load.acknowledged.size, 'records taken in after the backup').to.be.greaterThan(acknowledgedDuring)
    await load.stop()
    expect(load.refused, 'requests that were not answered 200').to.deep.equal([])
    expect(existsSync(join(app.dataDir, 'backup-stage'))).to.equal(false)

    const restoredDir = join(directory, 'restored')
    expect(await run(['restore', backupDir], restoredDir)).to.include({ code: 0, stderr: '' })
    expect(statSync(join(restoredDir, 'encryption-key')).mode & 0o777).to.equal(0o600)
    const restored = await startStandalone({ DATA_DIR: restoredDir })
    try {
      await eventually(
        async () => expect(await countDocuments(restored.search, 'service-logs-*')).to.be.at.least(acknowledgedBefore.size),
        { timeoutMs: 60_000 },
      )
      // All that was in the bus has gone through once this record has.
      await postRecords(restored.collector, [record(-1, 'last')])
      await eventually(async () =>
        expect(await countDocuments(restored.search, 'service-logs-*', { term: { service: 'last' } })).to.equal(1),
      )
      const stored = Map.groupBy(
        (await scanLogs(restored.search, { bool: { must_not: [{ term: { service: 'last' } }] } })) as Record<string, unknown>[],
        document => String(document['record.id']),
      )
      for (const id of acknowledgedBefore) expect(stored.get(id)?.length, id).to.equal(1)
      for (const [id, documents] of stored) {
        expect(documents.length, id).to.equal(1)
        expect(documents[0]!['message'], id).to.equal(load.sent.get(id)?.body)
      }
      const ids = (await incidents(restored.ticketing)).map(({ id }) => id)
      expect(ids).to.include.members(incidentsBefore.map(({ id }) => id))
      expect(new Set(ids).size).to.equal(ids.length)
      for (const { id, anomalyCount } of await incidents(restored.ticketing))
        expect(await countDocuments(restored.search, 'service-anomalies-*', { term: { incident_id: id } }), id).to.equal(anomalyCount)
      const keys = await run(['keys', 'list', '--tenant', 'shop'], restoredDir)
      expect(keys.stdout).to.include(key.slice(0, 13))
    } finally {
      await restored.remove()
    }
  })

  it('of a stopped standalone, too; a file that has changed since is found', async function () {
    this.timeout(120_000)
    const stored = await countDocuments(app.search, 'service-logs-*')
    await app.stop()
    const stoppedBackup = join(directory, 'stopped')
    expect(await run(['backup', stoppedBackup], app.dataDir)).to.include({ code: 0, stderr: '' })
    // As a standalone leaves it that is killed in the midst of a backup.
    mkdirSync(join(app.dataDir, 'backup-stage'))
    await app.restart()
    expect(existsSync(join(app.dataDir, 'backup-stage'))).to.equal(false)
    expect(await countDocuments(app.search, 'service-logs-*')).to.equal(stored)

    const [name] = readdirSync(join(stoppedBackup, 'bus', 'raw-logs')) as [string]
    appendFileSync(join(stoppedBackup, 'bus', 'raw-logs', name), 'x')
    const target = join(directory, 'of-a-changed-one')
    const refused = await run(['restore', stoppedBackup], target)
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(/raw-logs.*is not as it was when the backup was made/)
    const start = await run(['standalone'], target)
    expect(start.code).to.equal(1)
    expect(start.stdout + start.stderr).to.match(/a restore was broken off; run `logpipeline restore .*stopped` again/)
    expect(await run(['restore', backupDir], target), 'another backup in its place').to.include({ code: 0 })
  })

  it('refuses what would spoil something, and says why', async () => {
    const full = mkdtempSync(join(directory, 'full-'))
    writeFileSync(join(full, 'mine.txt'), 'mine')
    const cases: readonly (readonly [args: readonly string[], dataDir: string, expected: RegExp])[] = [
      [['backup', full], app.dataDir, /expected an empty directory for the backup, or none, seen .*full-/],
      [['backup', join(app.dataDir, 'backup')], app.dataDir, /expected a directory outside DATA_DIR/],
      [
        ['backup', join(directory, 'of-nothing')],
        join(directory, 'nothing'),
        /DATA_DIR: expected a directory that logpipeline has worked in/,
      ],
      [['restore', backupDir], full, /expected an empty directory for DATA_DIR, or none/],
      [['restore', backupDir], app.dataDir, /expected an empty directory for DATA_DIR, or none/],
      [['restore', full], join(directory, 'new'), /expected a backup, seen no backup\.json/],
    ]
    for (const [args, dataDir, expected] of cases) {
      const { code, stderr } = await run(args, dataDir)
      expect(stderr).to.match(expected)
      expect(code, stderr).to.equal(1)
    }
    expect(await run(['backup'], app.dataDir)).to.include({ code: 64 })
    expect(readFileSync(join(full, 'mine.txt'), 'utf8')).to.equal('mine')
  })
})

interface Load {
  readonly sent: ReadonlyMap<string, SentRecord>
  readonly acknowledged: ReadonlySet<string>
  /** Statuses of other answers. */
  readonly refused: readonly number[]
  stop(): Promise<void>
}

function startLoad(app: Standalone): Load {
  const sent = new Map<string, SentRecord>()
  const acknowledged = new Set<string>()
  const refused: number[] = []
  let sequence = 0
  let isStopped = false
  const sender = async () => {
    while (!isStopped) {
      const records = Array.from({ length: RECORDS_A_REQUEST }, () => record(sequence++))
      for (const one of records) sent.set(one.id, one)
      const status = await postRecords(app.collector, records)
      if (status === 200) for (const { id } of records) acknowledged.add(id)
      else refused.push(status)
      await sleep(BATCH_PAUSE_MS)
    }
  }
  const senders = Array.from({ length: SENDERS }, sender)
  return {
    sent,
    acknowledged,
    refused,
    async stop() {
      isStopped = true
      await Promise.all(senders)
    },
  }
}

function record(sequence: number, service = `shop-${sequence % 3}`): SentRecord {
  const isFailed = sequence % 50 === 0
  return {
    id: `r-${sequence}`,
    service,
    severityText: isFailed ? 'ERROR' : 'INFO',
    body: isFailed ? `order ${sequence}: connection refused, timeout` : `order ${sequence} is done`,
    attempt: sequence,
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n + BigInt(Math.abs(sequence) % 1_000_000)),
  }
}

async function run(
  args: readonly string[],
  dataDir: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir }
  try {
    return { code: 0, ...(await promisify(execFile)(PROGRAM, [...args], { env })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}
