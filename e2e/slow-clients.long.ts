import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { startStandalone } from './testing/standalone-process.ts'

const HALF = 'POST /v1/logs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"resource'
/** Time for a request to be read before the end is asked for. */
const READ_MS = 500

describe('clients that stand still in the middle of a request', () => {
  it('at all ports of a standalone do not keep it from its orderly end', async function () {
    this.timeout(90_000)
    const app = await startStandalone()
    try {
      const doors = [
        app.collector,
        app.dashboard,
        app.health,
        app.bridge,
        app.ticketing,
        app.agent,
        app.features,
        app.scheduler,
        app.search,
      ]
      for (const door of doors) {
        const client = connect(Number(new URL(door).port), '127.0.0.1').on('error', () => undefined)
        await once(client, 'connect')
        client.write(HALF)
      }
      await sleep(READ_MS)
      expect(await app.stop()).to.equal(0)
    } finally {
      await app.remove()
    }
  })
})
