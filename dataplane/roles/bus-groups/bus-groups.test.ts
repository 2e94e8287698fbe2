import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { loadSettings } from '../../config/environment.ts'
import { SILENT } from '../../telemetry/log.ts'
import { openEmbedded } from '../backends.ts'
import { runBusGroups } from './index.ts'

describe('logpipeline bus groups', () => {
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-groups-'))
  const environment = { DATA_DIR: directory }
  const open = () => openEmbedded(loadSettings('bridge', environment), systemClock, SILENT)
  const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    let out = ''
    let err = ''
    const stdout = { write: (text: string) => (out += text) }
    const stderr = { write: (text: string) => (err += text) }
    const code = await runBusGroups(args, { stdout, stderr, clock: systemClock, environment: { ...environment, ...more } })
    return { code, out, err }
  }
  before(async () => {
    const bus = await open()
    const record = { key: 'shop/cart', value: Buffer.from('one') }
    await bus.send('raw-logs', [record])
    for (const groupId of ['logpipeline-bridge-etl', 'of-old']) {
      const subscription = await bus.subscribe({ groupId, topics: ['raw-logs'] })
      const [{ topic, partition, offset }] = (await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 1_000 })) as [never]
      await subscription.commit([{ topic, partition, offset: offset + 1 }])
    }
    await bus.send('raw-logs', [record])
    await bus.stop()
  })
  after(() => rmSync(directory, { recursive: true }))

  it('shows who reads the embedded bus, and what they have still to read', async () => {
    const { code, out } = await run(['list'])
    expect(code).to.equal(0)
    expect(out.trim().split('\n')).to.have.length(2)
    expect(out).to.match(/^of-old {2}seen \d{4}-\S+Z {2}bytes to read: raw-logs [1-9]\d*$/m)
  })

  it('forgets a group, once', async () => {
    expect(await run(['remove', 'of-old'])).to.deep.equal({ code: 0, out: 'removed of-old\n', err: '' })
    expect((await run(['list'])).out).to.not.include('of-old')
    expect(await run(['remove', 'of-old'])).to.deep.equal({
      code: 1,
      out: '',
      err: 'logpipeline bus groups: group of-old does not exist; there are logpipeline-bridge-etl\n',
    })
  })

  it('says what keeps it from its work', async () => {
    const bus = await open()
    expect((await run(['list'])).err).to.match(/is in use by process \d+/)
    await bus.stop()
    expect((await run(['list'], { BUS_BROKERS: 'kafka:9092' })).err).to.include('kafka-consumer-groups.sh')
    expect((await run(['list'], { DATA_DIR: join(directory, 'none') })).err).to.include(
      'expected a directory that logpipeline has worked in',
    )
    for (const args of [[], ['remove'], ['list', 'x'], ['remove', 'a', 'b'], ['--nope']]) expect((await run(args)).code).to.equal(64)
    expect((await run(['--help'])).out).to.include('bus groups remove GROUP')
  })
})
