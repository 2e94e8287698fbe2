import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const MIB = 1024 * 1024
const PATH = '/api/search/service-logs-*/_count'
/** Larger than what a tenant has left that holds all it may. */
const BODY = `{}${' '.repeat(100_000)}`
const DEADLINE_MS = 20_000

describe('searches that come in slowly', () => {
  let harness: Harness
  const slow: ClientRequest[] = []
  before(async () => {
    harness = await startHarness()
  })
  after(async () => {
    for (const sent of slow) sent.destroy()
    await harness.stop()
  })

  const begin = () => {
    const headers = { 'x-service-api-key': harness.key, 'content-type': 'application/json', 'content-length': MIB }
    const sent = request({
      ...{ host: '127.0.0.1', port: harness.gateway.port, ca: harness.certificate.cert, agent: false },
      ...{ method: 'POST', path: PATH, headers },
    })
    sent.on('error', () => undefined)
    sent.on('response', response => response.resume())
    sent.write(Buffer.alloc(MIB - 1, 0x20))
    slow.push(sent)
  }

  it('of one tenant are bounded together (429), and cost no other tenant a search', async function () {
    this.timeout(2 * DEADLINE_MS)
    for (let i = 0; i < 40; i++) begin()
    let mine = await harness.call(PATH, { method: 'POST', body: BODY })
    for (const endMs = Date.now() + DEADLINE_MS; mine.status !== 429 && Date.now() < endMs; ) {
      await sleep(50)
      mine = await harness.call(PATH, { method: 'POST', body: BODY })
    }
    expect([mine.status, mine.headers['retry-after']]).to.deep.equal([429, '1'])
    expect(mine.json()['error']).to.match(/^requests of acme under way hold \d+ bytes/)
    expect((await harness.call(PATH, { method: 'POST', body: BODY, key: harness.foreignKey })).status).to.equal(200)
  })
})
