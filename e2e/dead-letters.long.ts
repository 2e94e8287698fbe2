import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../dataplane/adapters/clock/system-clock.ts'
import { loadSettings } from '../dataplane/config/environment.ts'
import { collectDeadLetters } from '../dataplane/pipeline/dead-letters/dead-letter.ts'
import { openBus } from '../dataplane/roles/backends.ts'
import { SILENT } from '../dataplane/telemetry/log.ts'
import { countDocuments } from './testing/api.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const PROGRAM = resolve(import.meta.dirname, '../hack/logpipeline')
const GARBAGE = '{"resourceLogs":'
/** Without any time: its identity hangs on the time of its arrival. */
const GOOD = JSON.stringify({
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ severityText: 'WARN', body: { stringValue: 'given up once' } }] }] }],
})

describe('dead letters of a standalone', function () {
  this.timeout(60_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => standalone.remove())

  const dlq = (...args: string[]) =>
    new Promise<{ readonly code: number; readonly out: string; readonly err: string }>(done => {
      const env = { PATH: process.env['PATH'], DATA_DIR: standalone.dataDir }
      execFile(PROGRAM, ['dlq', ...args], { env }, (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err }))
    })
  /** One message that the ETL cannot read, and one that it gave up though it can: as after a fault that was since repaired. */
  const makeLetters = async () => {
    const bus = await openBus(loadSettings('bridge', { DATA_DIR: standalone.dataDir }), systemClock, SILENT)
    await bus.send('raw-logs', [{ key: 'default/cart', value: Buffer.from(GARBAGE) }])
    const dead = collectDeadLetters({ bus, topic: 'dead-letter-queue', stage: 'etl', clock: systemClock, log: SILENT })
    const place = { topic: 'raw-logs', partition: 0, offset: 0, timestampMs: Date.now(), headers: {} }
    dead.add({ ...place, key: 'default/cart', value: Buffer.from(GOOD) }, 'etl failed: a fault')
    await dead.send()
    await bus.stop()
  }
  const goodOnes = () => countDocuments(standalone.search, 'service-logs-*', { match_phrase: { message: 'given up once' } })
  const untilAllRead = () => eventually(async () => expect(await lagOf(standalone)).to.equal(0))
  const garbageLetters = async () => (await dlq('list', '--json', '--reason', 'not JSON')).out.split('\n').length - 1

  it('are replayed twice and stored once; what fails again is a letter again', async () => {
    expect(await dlq('list')).to.include({ code: 0, err: '0 letters\n' })
    await standalone.stop()
    await makeLetters()
    await standalone.restart()
    await untilAllRead()
    expect(await garbageLetters()).to.equal(1)
    await standalone.stop()
    expect(await garbageLetters()).to.equal(1)

    for (let time = 0; time < 2; time++) expect(await dlq('replay')).to.include({ code: 0, out: 'replayed 2 letters: 2 to raw-logs\n' })
    await standalone.restart()
    await eventually(async () => expect(await goodOnes()).to.equal(1))
    await untilAllRead()
    expect(await goodOnes()).to.equal(1)
    await standalone.stop()
    expect(await garbageLetters()).to.equal(3)
    expect((await dlq('replay', '--dry-run')).out).to.equal(
      'would replay 2 letters: 2 to raw-logs\nnot sent: 2 letters with the same bytes as one before\n',
    )
  })

  it('are listed, replayed and purged beside it while it runs; a letter that came back says so, metric and agent count them', async () => {
    await standalone.restart()
    expect(await dlq('replay', '--reason', 'not JSON')).to.include({
      code: 0,
      out: 'replayed 1 letter: 1 to raw-logs\nnot sent: 2 letters with the same bytes as one before\n',
    })
    await untilAllRead()
    await eventually(async () => expect(await garbageLetters()).to.equal(4))
    const letters = (await dlq('list', '--json', '--reason', 'not JSON')).out.trim().split('\n')
    expect(JSON.parse(letters.at(-1)!).replayed).to.match(/^2\d{3}-/)
    const metrics = await (await fetch(`${standalone.bridge}/metrics`)).text()
    expect(metrics).to.match(/^logpipeline_dead_letters_total\{stage="etl",tenant="default"\} 1$/m)
    const lying = async () => ((await (await fetch(`${standalone.agent}/metrics`)).json()) as { deadLetters: object }).deadLetters
    const oldest = JSON.parse((await dlq('list', '--json')).out.split('\n')[0]!).time
    await eventually(async () => expect(await lying()).to.deep.equal({ letters: 5, oldest }))
    expect(await dlq('purge')).to.include({ code: 0, out: 'purged 5 letters\n' })
    expect(await dlq('list')).to.include({ code: 0, err: '0 letters\n' })
    await eventually(async () => expect(await lying()).to.deep.equal({ letters: 0, oldest: null }))
  })
})

/** Records on the way, as the agent sees them. */
async function lagOf({ agent }: Standalone): Promise<number> {
  const { bus } = (await (await fetch(`${agent}/metrics`)).json()) as { bus: { topics: Record<string, { consumerLag: number }> } }
  return Object.values(bus.topics).reduce((sum, { consumerLag }) => sum + consumerLag, 0)
}
