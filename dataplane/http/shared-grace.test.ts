import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { beginDrain } from '../limits/drain-time.ts'
import { startHttpServer } from './server.ts'

const GRACE_MS = 600
const AT = { host: '127.0.0.1', port: 0, setting: 'PORT' }

describe('servers that stop one after the other, each with a request that does not come to its end', () => {
  let endDrain: (() => void) | undefined
  afterEach(() => endDrain?.())

  it('share the time of slow clients where the process ends', async () => {
    const servers = await Promise.all(
      [1, 2, 3].map(() => startHttpServer((request, response) => void request.resume().on('end', () => response.end()), AT)),
    )
    for (const { port } of servers) {
      const client = connect({ port, host: AT.host }).on('error', () => undefined)
      await once(client, 'connect')
      client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx')
    }
    endDrain = beginDrain()
    const start = performance.now()
    for (const server of servers) await server.stop(GRACE_MS)
    expect(performance.now() - start).to.be.within(GRACE_MS - 10, 2.5 * GRACE_MS)
  })
})
