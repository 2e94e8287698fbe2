import { createServer, Server } from 'node:http'
import { expect } from 'chai'
import { type ListenConfig, listen } from './server.ts'

const everywhere: ListenConfig = { port: 0, host: '::', setting: 'PORT' }
const noConnections = { close() {}, cut() {} }
const answering = () => createServer((_request, response) => response.end('here'))

describe('the address that a server listens on', () => {
  it(':: is all addresses, of IPv4 and of IPv6', async () => {
    const server = await listen(answering(), everywhere, noConnections)
    const ask = async (host: string) => (await fetch(`http://${host}:${server.port}/`, { headers: { connection: 'close' } })).text()
    expect(await ask('127.0.0.1')).to.equal('here')
    if (server.host === '::') expect(await ask('[::1]')).to.equal('here')
    await server.stop()
  })

  for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL'])
    it(`:: is all addresses of IPv4 where the machine has no IPv6 (${code})`, async () => {
      const server = await listen(refusing('::', code), everywhere, noConnections)
      expect(server.host).to.equal('0.0.0.0')
      await server.stop()
    })

  it('another address that the machine does not have is refused with the setting', async () => {
    const other = '192.0.2.1'
    const error = await listen(refusing(other, 'EADDRNOTAVAIL'), { ...everywhere, host: other }, noConnections).catch(error => error)
    expect(error.message).to.equal('PORT: cannot listen on 192.0.2.1:0: this machine has no such address (HOST)')
  })

  it('a name that leads to no address is refused with the setting, or the option, that it comes from', async () => {
    for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
      const at = { ...everywhere, host: 'none.invalid', hostSetting: '--host' }
      const error = await listen(refusing(at.host, code), at, noConnections).catch(error => error)
      expect(error.message).to.equal('PORT: cannot listen on none.invalid:0: no address is known for this name (--host)')
    }
  })

  it('a port that is taken is not tried on another address', async () => {
    const error = await listen(refusing('::', 'EADDRINUSE'), everywhere, noConnections).catch(error => error)
    expect(error.message).to.equal('PORT: cannot listen on [::]:0: another program listens there')
  })
})

/** Cannot listen on that address. */
function refusing(address: string, code: string): Server {
  return new (class extends Server {
    override listen(...given: unknown[]): this {
      if (given[1] !== address) return super.listen(...(given as [number, string, () => void]))
      process.nextTick(() => this.emit('error', Object.assign(new Error(code), { code })))
      return this
    }
  })()
}
