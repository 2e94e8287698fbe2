import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Addresses } from './addresses.ts'
import { banner } from './banner.ts'

const ADDRESSES: Addresses = {
  dashboard: 'http://localhost:3000',
  gateway: 'https://127.0.0.1:8443',
  otlpGrpc: '127.0.0.1:4317',
  otlpHttp: 'http://127.0.0.1:4318',
  health: 'http://127.0.0.1:13133',
  search: 'http://127.0.0.1:9200',
  bridge: 'http://127.0.0.1:8080',
  ticketing: 'http://127.0.0.1:18081',
  features: 'http://127.0.0.1:6567',
  scheduler: 'http://127.0.0.1:8083',
  agent: 'http://127.0.0.1:8081',
  dataDir: '/data',
}

describe('the banner of standalone', () => {
  it('says nothing of threads when all of them run', () => {
    expect(banner(ADDRESSES, [])).to.contain('http://127.0.0.1:8080/health\n')
  })

  it('names the threads of the bridge that are still starting', () => {
    expect(banner(ADDRESSES, ['etl', 'indexer'])).to.contain('http://127.0.0.1:8080/health  (still starting: etl, indexer)\n')
  })

  it('names the Kafka that cannot be used, and what to do', () => {
    const text = banner(ADDRESSES, ['etl'], { missingBrokers: 'kafka-0:9092' })
    expect(text).to.contain('Nothing is taken in yet: the Kafka at kafka-0:9092 (BUS_BROKERS) cannot be used.\n')
    expect(text).to.contain('Start it, or correct BUS_BROKERS')
    expect(banner(ADDRESSES, [])).to.not.contain('BUS_BROKERS')
  })

  it('offers the demo where there is nothing yet', () => {
    expect(banner(ADDRESSES, [], { isEmpty: true }))
      .to.contain('`logpipeline demo`')
      .and.to.contain('within two minutes')
    expect(banner(ADDRESSES, [])).to.not.contain('demo')
  })

  it('says commands as they can be pasted', () => {
    const text = banner(ADDRESSES, [], { isEmpty: true, command: 'hack/logpipeline' })
    expect(text).to.contain('`hack/logpipeline demo`').and.to.contain('(DATA_DIR=/data hack/logpipeline keys create --tenant T)')
    expect(banner({ ...ADDRESSES, dataDir: resolve('data') }, [])).to.contain('  (logpipeline keys create --tenant T)')
    expect(banner({ ...ADDRESSES, dataDir: "/my data/it's" }, [])).to.contain(
      `(DATA_DIR='/my data/it'\\''s' logpipeline keys create --tenant T)`,
    )
  })
})
