import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const LIST = '/api/search/_cat/indices?format=json'
/** More than there are connections to the store, with eight counts each. */
const LISTS = 20
const ROWS = Array.from({ length: 28 }, (_, day) => ({
  index: `service-logs-2026.11.${String(day + 1).padStart(2, '0')}`,
  ...{ health: 'green', status: 'open', 'docs.count': '7', 'store.size': '700' },
}))

describe('lists of indices, each of which counts the documents of every day', () => {
  let harness: Harness
  let store: Server
  let isOpen = false
  const counts: ServerResponse[] = []

  before(async () => {
    store = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      const answer = (value: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
      if (request.url!.startsWith('/_cat/')) answer(ROWS)
      else if (isOpen || !body.includes('acme')) answer({ count: 1 })
      else counts.push(response)
    }).listen(0, '127.0.0.1')
    await once(store, 'listening')
    harness = await startHarness({}, `http://127.0.0.1:${(store.address() as AddressInfo).port}`)
  })
  after(async () => {
    await harness.stop()
    store.close()
    store.closeAllConnections()
  })

  it('of one tenant leave connections to the store for others, and are all answered', async () => {
    const lists = Array.from({ length: LISTS }, () => harness.call(LIST))
    for (let seen = -1; counts.length > seen || counts.length < 64; await sleep(200)) seen = counts.length
    const other = await Promise.race([
      harness.call('/api/search/service-logs-*/_count', { key: harness.foreignKey }),
      sleep(5_000).then(() => undefined),
    ])
    expect(other?.json()).to.deep.equal({ count: 1 })
    isOpen = true
    for (const response of counts) response.setHeader('content-type', 'application/json').end('{"count":1}')
    for (const { status, json } of await Promise.all(lists)) {
      expect(status).to.equal(200)
      expect(json()).to.have.length(ROWS.length)
    }
  })

  it('beyond those that may wait are answered 429', async () => {
    isOpen = false
    counts.length = 0
    const lists = Array.from({ length: 70 }, () => harness.call(LIST))
    const { status, headers } = await Promise.race(lists)
    expect([status, headers['retry-after']]).to.deep.equal([429, '1'])
    isOpen = true
    for (const response of counts) response.setHeader('content-type', 'application/json').end('{"count":1}')
    const statuses = (await Promise.all(lists)).map(answer => answer.status)
    expect(statuses.filter(each => each === 429)).to.have.length(6)
  })
})
