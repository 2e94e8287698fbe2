import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { eventually } from '../kube/testing/eventually.ts'
import { refusedConnections } from '../telemetry/refused-connections.ts'
import { limitConnections, mostConnections } from './connection-limit.ts'
import { listen } from './server.ts'

describe('limit of connections', () => {
  const servers: Server[] = []
  const sockets: Socket[] = []

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const server of servers.splice(0)) server.close()
  })

  async function portOf(server: Server): Promise<number> {
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** `from`: the address of this machine that it comes from. */
  function open(port: number, from = '127.0.0.1'): Socket {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    socket.on('error', () => undefined)
    sockets.push(socket)
    return socket
  }

  it('closes connections of an address beyond its share, and takes those of another', async () => {
    const taken: Socket[] = []
    const server = createServer(socket => taken.push(socket))
    limitConnections(server, 8)
    const port = await portOf(server)
    const before = refusedConnections()
    const greedy = Array.from({ length: 20 }, () => open(port))
    await eventually('14 of 20 are closed', () => greedy.filter(({ closed }) => closed).length === 14)
    expect(taken).to.have.length(6)
    expect(refusedConnections() - before).to.equal(14)
    open(port, '127.0.0.2')
    await eventually('that of another is taken', () => taken.length === 7)
  })

  it('closes connections beyond those of all addresses', async () => {
    const taken: Socket[] = []
    const server = createServer(socket => taken.push(socket))
    limitConnections(server, 4)
    const port = await portOf(server)
    const all = [1, 2, 3, 4].flatMap(last => [open(port, `127.0.0.${last}`), open(port, `127.0.0.${last}`)])
    await eventually('four of eight are closed', () => all.filter(({ closed }) => closed).length === 4)
    expect(taken).to.have.length(4)
  })

  it('takes further ones once others are closed', async () => {
    const taken: Socket[] = []
    const server = createServer(socket => taken.push(socket))
    limitConnections(server, 1)
    const port = await portOf(server)
    for (let k = 1; k <= 3; k++) {
      const socket = open(port)
      await eventually('it is taken', () => taken.length === k)
      socket.destroy()
      await once(taken.at(-1)!, 'close')
    }
  })

  it('keeps those that answer HTTP as they are', async () => {
    const server = createHttpServer((_, response) => response.end('yes'))
    limitConnections(server, 2)
    const port = await portOf(server)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('yes')
  })

  it('holds for each server of the product', async () => {
    const server = createServer()
    const at = { host: '127.0.0.1', port: 0, setting: 'PORT' }
    const listening = await listen(server, at, { close: () => undefined, cut: () => undefined })
    expect(server.maxConnections).to.be.within(1, 10_000)
    await listening.stop()
  })

  it('leaves files to the process', () => {
    const limitsOf = (files: string) =>
      `Max processes             95000                95000                processes\nMax open files            ${files}\n`
    expect(mostConnections(limitsOf('1024                 4096                 files'))).to.equal(128)
    expect(mostConnections(limitsOf('1048576              1048576              files'))).to.equal(10_000)
    expect(mostConnections(limitsOf('unlimited            unlimited            files'))).to.equal(10_000)
    expect(mostConnections(limitsOf('4                    4                    files'))).to.equal(1)
    expect(mostConnections(undefined)).to.equal(10_000)
  })
})
