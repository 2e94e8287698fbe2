import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { estimate } from './estimate.ts'
import { MEASURED } from './figures.ts'
import { runCapacity } from './index.ts'

const LOAD = { rate: 1_000, bytes: MEASURED.recordBytes, retentionDays: 30, copies: 2 }

async function run(...args: string[]) {
  let out = ''
  let err = ''
  const code = await runCapacity(args, { stdout: { write: text => (out += text) }, stderr: { write: text => (err += text) } })
  return { code, out, err }
}

describe('logpipeline capacity', () => {
  it('multiplies measured figures: twice the rate is twice the cores, disk and network of each part', () => {
    const one = estimate(LOAD)
    const two = estimate({ ...LOAD, rate: 2_000 })
    for (const [at, { part, cores, diskBytes, networkBytes }] of one.distributed.entries()) {
      expect(two.distributed[at]!.cores / cores, part).to.be.closeTo(2, 1e-9)
      expect(two.distributed[at]!.diskBytes, part).to.equal(diskBytes * 2)
      expect(two.distributed[at]!.networkBytes / networkBytes, part).to.be.closeTo(2, 1e-9)
    }
  })

  it('takes the CPU of one machine from the rates that it was measured at', () => {
    const { cpuUs, maxPerSecond, steady, idleCores } = MEASURED.standalone
    const busyCores = (rate: number) => estimate({ ...LOAD, rate }).oneMachine!.cores * 0.6
    expect(busyCores(1)).to.be.closeTo(idleCores, 1e-3)
    expect(busyCores(steady.perSecond)).to.be.closeTo((steady.perSecond * steady.cpuUs) / 1e6, 1e-9)
    const [low, high] = [busyCores(10_000), busyCores(20_000)]
    const fullCores = (maxPerSecond * cpuUs) / 1e6
    expect(high + ((high - low) / 10_000) * (maxPerSecond - 20_000), 'the line ends at the highest rate').to.be.closeTo(fullCores, 1e-9)
  })

  it('takes larger records to cost as much more, and smaller ones no less', () => {
    const cores = (bytes: number) => estimate({ ...LOAD, bytes }).oneMachine!.cores
    expect(cores(100)).to.equal(cores(MEASURED.recordBytes))
    expect(cores(2 * MEASURED.recordBytes)).to.be.closeTo(estimate({ ...LOAD, rate: 2 * LOAD.rate }).oneMachine!.cores, 1e-9)
  })

  it('has one machine do no more than three fifths of what one was seen to do', () => {
    expect(estimate({ ...LOAD, rate: MEASURED.standalone.maxPerSecond * 0.6 }).oneMachine).to.not.equal(undefined)
    expect(estimate({ ...LOAD, rate: MEASURED.standalone.maxPerSecond * 0.61 }).oneMachine).to.equal(undefined)
  })

  it('never has fewer partitions than the specification, nor fewer servers than copies', () => {
    const { partitions, distributed } = estimate({ ...LOAD, rate: 1 })
    expect(partitions).to.deep.equal({ raw: 6, enriched: 6, anomaly: 3 })
    expect(distributed.map(({ part, count }) => [part, count])).to.deep.equal([
      ['collector', 2],
      ['bridge', 1],
      ['Kafka brokers', 2],
      ['OpenSearch nodes', 2],
    ])
  })

  it('asks for small servers where little is sent, and for large ones where each is full', () => {
    const each = (rate: number) =>
      estimate({ ...LOAD, rate })
        .distributed.slice(2)
        .map(({ memoryBytes, count }) => Math.round(memoryBytes / count / 2 ** 30))
    expect(each(1)).to.deep.equal([4, 4])
    for (const gib of each(1_000_000)) expect(gib).to.be.within(60, 64)
  })

  it('prints a table, or JSON', async () => {
    const { code, out } = await run('--rate', '1000000', '--bytes', '600', '--retention', '30d')
    expect(code).to.equal(0)
    for (const word of [
      'One machine: not enough',
      'collector',
      'bridge',
      'Kafka brokers',
      'OpenSearch nodes',
      'partitions',
      'shards',
      'ten times',
    ])
      expect(out).to.contain(word)
    expect(JSON.parse((await run('--rate', '10', '--json')).out)).to.deep.include({ load: { ...LOAD, rate: 10 }, measured: MEASURED.date })
  })

  it('names every problem of the command line', async () => {
    const { code, err } = await run('--rate', 'x', '--bytes', '0', '--retention', '3', '--copies', '9')
    expect(code).to.equal(64)
    expect(err.trim().split('\n')).to.have.length(4)
  })

  it('has the figures that docs/capacity.md shows', () => {
    const page = readFileSync(new URL('../../../docs/capacity.md', import.meta.url), 'utf8')
    const { standalone, collector, etl, score, indexer, openSearch, kafka } = MEASURED
    const shown = [
      standalone.cpuUs,
      standalone.steady.cpuUs,
      standalone.idleCores,
      standalone.busBytes,
      standalone.storeBytes,
      collector.cpuUs,
      etl.cpuUs,
      score.cpuUs,
      indexer.cpuUs,
    ]
    for (const figure of [...shown, openSearch.cpuUs, openSearch.documentBytes, kafka.rawBytes, kafka.enrichedBytes])
      expect(page).to.match(new RegExp(`\\b${String(figure).replace('.', '\\.')}\\b`))
  })
})
