import { createServer, type Server } from 'node:http'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { followBridgeConfig } from './bridge-config.ts'

const INITIAL = { anomalyThreshold: 2.5, windowSize: 50 }

describe('stream score', () => {
  let server: Server
  let endpoint: string
  let answer: { readonly status: number; readonly body: string }
  const clock = createFakeClock()
  let stopping: AbortController
  beforeEach(async () => {
    stopping = new AbortController()
    server = createServer((_request, response) => void response.writeHead(answer.status).end(answer.body)).listen(0, '127.0.0.1')
    await new Promise(done => server.once('listening', done))
    endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterEach(() => {
    stopping.abort()
    server.close()
    server.closeAllConnections()
  })

  const follow = (of: string | undefined) =>
    followBridgeConfig({ endpoint: of, initial: INITIAL, clock, log: SILENT, signal: stopping.signal })
  /** Until the bridge was asked once more. */
  const nextLook = async () => {
    while (clock.sleepers === 0) await new Promise(setImmediate)
  }

  it('takes over the configuration of the bridge as it changes; the last one stays while the bridge does not tell', async () => {
    answer = { status: 200, body: JSON.stringify({ anomalyThreshold: 3, windowSize: 80, rawTopic: 'raw-logs' }) }
    const config = follow(endpoint)
    expect(config.read()).to.deep.equal(INITIAL)
    await nextLook()
    expect(config.read()).to.deep.equal({ anomalyThreshold: 3, windowSize: 80 })
    for (const broken of [
      { status: 503, body: '{}' },
      { status: 200, body: '{"anomalyThreshold":"high"}' },
      { status: 200, body: 'no JSON' },
    ]) {
      answer = broken
      clock.advance(1_000)
      await nextLook()
      expect(config.read()).to.deep.equal({ anomalyThreshold: 3, windowSize: 80 })
    }
    answer = { status: 200, body: JSON.stringify({ anomalyThreshold: 4, windowSize: 80 }) }
    clock.advance(1_000)
    await nextLook()
    expect(config.read()).to.deep.equal({ anomalyThreshold: 4, windowSize: 80 })
  })

  it('without a bridge to ask keeps its own settings', () => {
    expect(follow(undefined).read()).to.deep.equal(INITIAL)
  })
})
