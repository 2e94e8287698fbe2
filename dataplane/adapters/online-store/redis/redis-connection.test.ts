import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { OnlineStoreUnavailable } from '../../../ports/online-store.ts'
import { createRedisConnection, type RedisConnection } from './redis-connection.ts'

describe('a connection to Redis', () => {
  let server: Server
  let connection: RedisConnection
  let sockets: Set<Socket>
  /** How the next GETs end; those behind them are answered. */
  let ends: ('answer' | 'close')[]
  let gets: number
  /** Answers GET in its place. */
  let moved: string | undefined

  beforeEach(async () => {
    sockets = new Set()
    ends = []
    gets = 0
    moved = undefined
    server = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', data => {
        // One answer for each command; HELLO and CLIENT need none in particular.
        for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          const end = name === 'GET' && gets++ >= 0 ? (ends.shift() ?? 'answer') : 'answer'
          if (end === 'close') return void socket.destroy()
          socket.write(name === 'GET' ? (moved ?? '$1\r\n7\r\n') : '+OK\r\n')
        }
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    connection = createRedisConnection({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 1_000 })
  })
  afterEach(async () => {
    await connection.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  const get = () => connection.run(client => client.get('k'))
  const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

  it('that is kept and closed by the other end in the same moment is made anew, once', async () => {
    ends = ['answer', 'close', 'answer', 'close', 'close']
    expect(await get()).to.equal('7')
    expect(await get()).to.equal('7')
    expect(sockets.size).to.equal(2)
    expect(await failure(get())).to.be.instanceOf(OnlineStoreUnavailable)
    expect(gets).to.equal(5)
  })

  it('to what is no Redis, as to a port of TLS, tells that, and no error of the client', async () => {
    const other = createServer(socket => {
      socket.on('error', () => undefined)
      // OpenSSL answers plain text with an alert, and ends.
      socket.once('data', () => socket.end(Buffer.from('15030300020246', 'hex')))
    })
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const wrong = createRedisConnection({ url: `redis://127.0.0.1:${(other.address() as AddressInfo).port}`, timeoutMs: 1_000 })
    try {
      const error = (await failure(wrong.run(client => client.get('k')))) as Error
      expect(error).to.be.instanceOf(OnlineStoreUnavailable)
      expect(error.message).to.not.contain('undefined')
    } finally {
      await wrong.close()
      other.close()
    }
  })

  describe('to a node of a cluster that does not have the keys', () => {
    let other: Server
    /** Answers of the other node; then it has the keys. */
    let elsewhere: string[]
    beforeEach(async () => {
      elsewhere = []
      other = createServer(socket => {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('data', data => {
          for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
            socket.write(name === 'GET' ? (elsewhere.shift() ?? '$1\r\n8\r\n') : '+OK\r\n')
        })
      })
      await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    })
    afterEach(() => void other.close())
    const portOf = (of: Server) => (of.address() as AddressInfo).port

    it('goes on at the one that has them, as after a failover, and stays there', async () => {
      for (const host of ['127.0.0.1', '']) {
        moved = `-MOVED 3999 ${host}:${portOf(other)}\r\n`
        expect(await get()).to.equal('8')
        moved = undefined
        expect(await get()).to.equal('8')
        elsewhere = [`-MOVED 3999 127.0.0.1:${portOf(server)}\r\n`]
        expect(await get()).to.equal('7')
      }
    })

    it('asks the node of the address again once the other fails', async () => {
      moved = `-MOVED 3999 127.0.0.1:${portOf(other)}\r\n`
      elsewhere = ['$1\r\n8\r\n', '-CLUSTERDOWN The cluster is down\r\n']
      expect(await get()).to.equal('8')
      expect(await failure(get())).to.be.instanceOf(OnlineStoreUnavailable)
      moved = undefined
      expect(await get()).to.equal('7')
    })

    it('ends where nodes name one another', async () => {
      moved = `-MOVED 3999 127.0.0.1:${portOf(other)}\r\n`
      elsewhere = Array(9).fill(`-MOVED 3999 127.0.0.1:${portOf(server)}\r\n`) as string[]
      const error = await failure(get())
      expect(error).to.be.instanceOf(OnlineStoreUnavailable)
      expect(gets).to.be.below(4)
    })
  })

  it('that never answered is not made anew', async () => {
    ends = ['close']
    expect(await failure(get())).to.be.instanceOf(OnlineStoreUnavailable)
    expect(gets).to.equal(1)
  })

  it('that was closed while nobody asked is made anew', async () => {
    expect(await get()).to.equal('7')
    for (const socket of sockets) socket.end()
    expect(await get()).to.equal('7')
    expect(sockets.size).to.equal(2)
  })
})
