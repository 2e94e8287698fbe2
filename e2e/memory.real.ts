/** Memory of a standalone, all its processes together, while a part of it stands still: intake slows down before memory grows. At full speed: `hack/bench/memory.ts`. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { countDocuments } from './testing/api.ts'
import { watchResidentMb } from './testing/resident-memory.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const MAX_MB = 600
/** Longer than the collector waits for its bus. */
const STILL_MS = 30_000
/** Requests at once: more than the bus, and the collector, hold. */
const SENDERS = 224
const RECORDS_OF_REQUEST = 500
/** Beyond so many the senders pause: two minutes of indexing, and more than memory would hold, as each has two kilobytes. */
const MAX_RECORDS = 500_000
const STILL_DISK = join(import.meta.dirname, 'testing/still-disk.ts')

interface Sent {
  /** Records that were acknowledged. */
  readonly records: number
  /** Answers by status. */
  readonly answers: Readonly<Record<number, number>>
  /** Headers of answers other than 200, in seconds. */
  readonly retryAfter: ReadonlySet<string | null>
}

describe('memory of a standalone', function () {
  this.timeout(300_000)
  let directory: string
  let stillDisk: string
  let app: Standalone
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-memory-'))
    stillDisk = join(directory, 'still-disk')
    const env = { NODE_OPTIONS: `--import=${STILL_DISK}`, STILL_DISK_FILE: stillDisk }
    app = await startStandalone(env, { parentDirectory: directory })
  })
  afterEach(async () => {
    await app?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  /** Sends for so long as fast as answers come, and as `Retry-After` asks for. */
  async function sendFor(ms: number): Promise<Sent> {
    const endMs = performance.now() + ms
    const answers: Record<number, number> = {}
    const retryAfter = new Set<string | null>()
    let records = 0
    const sender = async (name: number) => {
      for (let turn = 0; performance.now() < endMs; turn++) {
        if (records >= MAX_RECORDS) {
          await sleep(100)
          continue
        }
        const answer = await fetch(`${app.collector}/v1/logs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: request(`${name}-${turn}`),
        })
        await answer.arrayBuffer()
        answers[answer.status] = (answers[answer.status] ?? 0) + 1
        if (answer.status === 200) records += RECORDS_OF_REQUEST
        else {
          retryAfter.add(answer.headers.get('retry-after'))
          await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 1))
        }
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, (_none, name) => sender(name)))
    return { records, answers, retryAfter }
  }

  /** Records that were refused after a wait may be there as well. */
  const untilSearchable = (records: number) =>
    eventually(async () => expect(await countDocuments(app.search, 'service-logs-*')).to.be.at.least(records), {
      timeoutMs: 200_000,
      pauseMs: 500,
    })

  it('stays below 600 MB while the disk of its bus stands still: requests get 429 or 503 with Retry-After, and what comes later is taken', async () => {
    const memory = watchResidentMb(app.pid)
    writeFileSync(stillDisk, join(app.dataDir, 'bus'))
    const sent = await sendFor(STILL_MS)
    const mostMb = memory.done()
    expect(sent.answers[429]).to.be.above(0)
    expect(sent.answers[503]).to.be.above(0)
    expect(sent.retryAfter.has(null)).to.equal(false)
    expect(mostMb).to.be.below(MAX_MB)
    rmSync(stillDisk)
    const { records } = await sendFor(1_000)
    expect(records).to.be.above(0)
    await untilSearchable(records)
  })

  it('stays below 600 MB while the disk of its search store stands still: records wait in the bus, on disk, and are searchable afterwards', async () => {
    const memory = watchResidentMb(app.pid)
    writeFileSync(stillDisk, join(app.dataDir, 'search'))
    const sent = await sendFor(STILL_MS)
    const mostMb = memory.done()
    expect(sent.records).to.be.above(0)
    expect(mostMb).to.be.below(MAX_MB)
    rmSync(stillDisk)
    await untilSearchable(sent.records)
  })
})

const TEXT_BYTES = 1_800
const NOISE = randomBytes(256 * 1024).toString('hex')

/** A megabyte that hardly compresses, each record other than all before. */
function request(name: string): string {
  const logRecords = Array.from({ length: RECORDS_OF_REQUEST }, (_none, i) => {
    const from = (i * 997) % (NOISE.length - TEXT_BYTES)
    const text = `request ${name} record ${i} ${NOISE.slice(from, from + TEXT_BYTES)}`
    return { timeUnixNano: `${Date.now()}${String(i).padStart(6, '0')}`, severityText: 'INFO', body: { stringValue: text } }
  })
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] }
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })
}
