import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { type Document, matcherOf } from '../../testing/memory-query.ts'
import { createIncidents } from './incidents.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 0, 1)

describe('the newest record of a shop', () => {
  const closing: (() => void)[] = []
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  /** A console whose store holds these records, the newest first. */
  const consoleWith = async (records: readonly Document[]) => {
    const server = createServer(async (request, response) => {
      const matches = matcherOf(JSON.parse(Buffer.concat(await request.toArray()).toString()).query)
      const hits = records.filter(record => matches('', record)).map(_source => ({ _source }))
      response.end(JSON.stringify({ hits: { hits } }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => server.close())
    return createIncidents({ tenant: 'default', consoleUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  }
  const record = (fields: object, minutesAgo: number): Document => ({
    ...fields,
    timestamp: new Date(NOW - minutesAgo * MINUTE).toISOString(),
  })
  const newest = async (...records: readonly Document[]) =>
    (await consoleWith(records)).newestRecordMs(NOW - 30 * MINUTE, new AbortController().signal)

  it('is one that the demo sent', async () => {
    expect(await newest(record({ service: 'cart', host: 'cart-6c7f9-hw4zn' }, 2), record({ service: 'checkout' }, 1))).to.equal(
      NOW - 2 * MINUTE,
    )
  })

  it('is none of a service that has the name of one in the shop', async () => {
    expect(await newest(record({ service: 'checkout' }, 1), record({ service: 'cart', host: 'web-1' }, 2))).to.equal(undefined)
  })
})
