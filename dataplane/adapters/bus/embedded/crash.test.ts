import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { DirectoryInUse } from '../../../process/directory-lock.ts'
import { type BusDirectory, createBusDirectory, HOUR_MS, readAll, textOf, textRecord } from './testing/bus-directory.ts'

const LOAD = fileURLToPath(new URL('./testing/load-process.ts', import.meta.url))
const RELAY = new URL('./testing/relay-worker.ts', import.meta.url)

describe('embedded bus: processes and threads', () => {
  let directory: BusDirectory
  beforeEach(() => {
    directory = createBusDirectory()
  })
  afterEach(() => directory.remove())

  /** Runs the load until it has been acknowledged `count` records, then kills it; returns what was acknowledged. */
  async function killUnderLoad(start: number, count: number): Promise<readonly string[]> {
    const child = spawn(process.execPath, [LOAD, directory.path, String(start)], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    const exited = once(child, 'close')
    for await (const chunk of child.stdout) {
      output += chunk
      if (output.length > count * 8) child.kill('SIGKILL')
    }
    await exited
    return output.slice(0, output.lastIndexOf('\n')).split('\n')
  }

  it('kill -9 under load: all that was acknowledged is readable, once, in order', async function () {
    this.timeout(20_000)
    const acknowledged: string[] = []
    for (let round = 0; round < 3; round++) acknowledged.push(...(await killUnderLoad(round * 1_000_000, 500 + round * 700)))
    const bus = await directory.open()
    const read = (await readAll(bus)).map(textOf)
    const ids = read.map(text => text.split(':').slice(0, 2).join(':'))
    const unique = new Set(ids)
    expect(unique.size, 'no record twice').to.equal(ids.length)
    const missing = acknowledged.filter(id => !unique.has(id))
    expect(missing).to.deep.equal([])
    for (const text of read) {
      const [, number, filler] = text.split(':')
      expect(filler!.length).to.equal(Number(number) % 300)
    }
    for (const [sender, ofSender] of Map.groupBy(ids, id => id.split(':')[0])) {
      const numbers = ofSender.map(id => Number(id.split(':')[1]))
      expect(numbers, `order of sender ${sender}`).to.deep.equal(numbers.toSorted((a, b) => a - b))
    }
  })

  it('a second process on the same directory is refused with a clear message', async () => {
    await directory.open()
    const child = spawn(process.execPath, [LOAD, directory.path, '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    const [code] = await once(child, 'close')
    expect(code).to.equal(1)
    expect(stderr).to.include(`${directory.path} is in use by process ${process.pid}`)
  })

  it('the same process cannot open it twice, but can after stop', async () => {
    const bus = await directory.open()
    let failure: unknown
    await directory.open().catch((error: unknown) => {
      failure = error
    })
    expect(failure).to.be.instanceOf(DirectoryInUse)
    await bus.stop()
    await directory.open()
  })

  it('two worker threads relay from topic to topic, everything once and in order of the keys', async function () {
    this.timeout(20_000)
    const topics = ['in', 'middle', 'out'].map(name => ({ name, partitions: 3, retentionMs: HOUR_MS }))
    const bus = await directory.open({ topics })
    const count = 3000
    const relay = (from: string, to: string) => {
      const handle = bus.share()
      return new Worker(RELAY, { workerData: { bus: handle, from, to, count }, transferList: [handle.port] })
    }
    const ended = Promise.all([relay('in', 'middle'), relay('middle', 'out')].map(worker => once(worker, 'exit')))
    const sent = Array.from({ length: count }, (_, i) => textRecord(`key-${i % 11}`, `value ${i}`))
    for (let i = 0; i < count; i += 100) await bus.send('in', sent.slice(i, i + 100))
    expect((await ended).map(([code]) => code)).to.deep.equal([0, 0])
    const read = await readAll(bus, 'out')
    expect(read).to.have.length(count)
    for (const [key, ofKey] of Map.groupBy(read, r => r.key))
      expect(ofKey.map(textOf)).to.deep.equal(sent.filter(r => r.key === key).map(r => Buffer.from(r.value).toString()))
  })

  it('a thread that dies leaves its group: another member gets its partitions', async function () {
    this.timeout(20_000)
    const topics = ['in', 'out'].map(name => ({ name, partitions: 3, retentionMs: HOUR_MS }))
    const bus = await directory.open({ topics })
    const handle = bus.share()
    const worker = new Worker(RELAY, { workerData: { bus: handle, from: 'in', to: 'out', count: 1e9 }, transferList: [handle.port] })
    const subscription = await bus.subscribe({ groupId: 'watch', topics: ['out'] })
    await bus.send('in', [textRecord('k', 'alive')])
    expect(await subscription.poll({ maxRecords: 1, maxBytes: 1000, waitMs: 9000 })).to.have.length(1)
    await worker.terminate()
    const heir = await bus.subscribe({ groupId: 'relay to out', topics: ['in'] })
    await bus.send('in', [textRecord('k', 'inherited')])
    const got: string[] = []
    for (let i = 0; i < 50 && !got.includes('inherited'); i++)
      got.push(...(await heir.poll({ maxRecords: 10, maxBytes: 1000, waitMs: 200 })).map(textOf))
    expect(got).to.include('inherited')
    expect(heir.assignment()).to.have.length(3)
  })
})
