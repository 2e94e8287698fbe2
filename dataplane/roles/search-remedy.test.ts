import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { type Log, SILENT } from '../telemetry/log.ts'
import { createBackends } from './backends.ts'
import { makeSelfSigned } from './gateway/tls/self-signed.ts'

describe('a search store that cannot be spoken to', () => {
  const warnings: { readonly error?: string }[] = []
  const log: Log = { ...SILENT, warn: fields => void warnings.push(fields), child: () => log }
  const servers: Server[] = []
  afterEach(() => {
    warnings.length = 0
    for (const server of servers.splice(0)) server.close()
  })

  /** The error that the log tells of a store at this address. */
  async function warningOf(scheme: string, server: Server): Promise<string | undefined> {
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const backends = createBackends({ clock: systemClock, log })
    await backends.searchStore({ SEARCH_ENDPOINT: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}` })
    await backends.stop()
    expect(warnings).to.have.length(1)
    return warnings[0]!.error
  }

  const certificate = () => {
    const nowMs = Date.now()
    return makeSelfSigned({ commonName: 'search', hosts: ['127.0.0.1'], notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + 3_600_000 })
  }

  it('as it speaks TLS: the warning says that the address may have to begin with https://', async () => {
    expect(await warningOf('http', createTlsServer(certificate()))).to.equal(
      'search store did not answer GET /: socket hang up; it may speak TLS: SEARCH_ENDPOINT begins with https:// then',
    )
  })

  it('as it speaks no TLS: the warning says that the address may have to begin with http://', async () => {
    expect(await warningOf('https', createPlainServer())).to.match(/; it may speak no TLS: SEARCH_ENDPOINT begins with http:\/\/ then$/)
  })

  it('as nobody knows who signed its certificate: the warning names SEARCH_CA_FILE', async () => {
    expect(await warningOf('https', createTlsServer(certificate()))).to.match(/; SEARCH_CA_FILE must hold the authority that signed its/)
  })
})
