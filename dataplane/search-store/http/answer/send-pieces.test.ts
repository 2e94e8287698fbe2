import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { piecesOf, sendPieces, watchReader } from './send-pieces.ts'

const MIB = 1024 * 1024
const READ_ON_MS = 300
const BODY = Buffer.alloc(32 * MIB, 'x')

describe('an answer that is sent piece by piece', () => {
  let server: Server
  let socket: Socket
  let response: ServerResponse

  beforeEach(async () => {
    server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    ;[, response] = await once(server, 'request')
    response.writeHead(200, { 'content-length': BODY.length })
    void sendPieces(response, piecesOf(BODY), undefined, READ_ON_MS)
  })
  afterEach(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  it('comes whole to a client that takes its time', async () => {
    let bytes = 0
    for await (const chunk of socket) {
      bytes += chunk.length
      if (bytes > BODY.length) break
      // About 2 MiB in each stretch.
      if (bytes % (2 * MIB) < chunk.length) await sleep(READ_ON_MS / 2)
    }
    expect(response.writableFinished).to.equal(true)
  }).timeout(30_000)

  it('is cut off when its client reads nothing', async () => {
    await once(response, 'close')
    expect(response.writableFinished).to.equal(false)
  })

  it('is cut off when its client reads a little now and then', async () => {
    let bytes = 0
    const trickle = setInterval(() => {
      bytes += (socket.read(1024) as Buffer | null)?.length ?? 0
    }, 5)
    await once(response, 'close')
    clearInterval(trickle)
    expect(bytes).to.be.above(0)
    expect(response.writableFinished).to.equal(false)
  }).timeout(10_000)
})

describe('an answer that is sent as a whole', () => {
  it('is cut off when its client does not take the rest', async () => {
    const server = createServer((_request, response) => {
      response.end(BODY)
      watchReader(response, undefined, READ_ON_MS)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    socket.on('error', () => undefined)
    try {
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      const [, response] = await once(server, 'request')
      await once(response, 'close')
      expect(response.writableFinished).to.equal(false)
    } finally {
      socket.destroy()
      server.closeAllConnections()
      server.close()
    }
  })
})
