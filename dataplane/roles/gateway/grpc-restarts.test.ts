/** gRPC through the gateway while the collector's connections end: it restarts, or another one takes its place. */
import { once } from 'node:events'
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { LOGS_EXPORT_PATH } from '../../otlp-intake/grpc-message.ts'
import { grpcMessage } from '../collector/testing/collector-harness.ts'
import { buildProtobuf } from '../collector/testing/requests.ts'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const OK = '0'
const UNAVAILABLE = '14'

describe('a gRPC call whose connection to the collector ends before its answer', () => {
  let collector: Http2Server
  let sessions: ServerHttp2Session[]
  let calls: number
  let harness: Harness
  /** The end of a call, by how many came before. */
  let onCall: (stream: ServerHttp2Stream, before: number) => void

  const accept = (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': OK }))
    stream.end(grpcMessage(Buffer.alloc(0)))
  }

  beforeEach(async () => {
    sessions = []
    calls = 0
    onCall = accept
    collector = createServer().listen(0, '127.0.0.1')
    collector.on('session', session => {
      sessions.push(session)
      session.on('error', () => undefined)
    })
    collector.on('stream', stream => {
      stream.on('error', () => undefined)
      stream.resume()
      const before = calls++
      stream.once('end', () => onCall(stream, before))
    })
    await once(collector, 'listening')
    const grpc = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
    harness = await startHarness({ collector: { http: 'http://127.0.0.1:1', grpc } })
  })
  afterEach(async () => {
    await harness.stop()
    for (const session of sessions) session.destroy()
    collector.close()
  })

  const send = async () => {
    const headers = { 'content-type': 'application/grpc', te: 'trailers' }
    const answer = await harness.call(LOGS_EXPORT_PATH, {
      ...{ method: 'POST', http2: true, headers },
      body: grpcMessage(buildProtobuf({ service: 'cart', messages: ['hello'] })),
    })
    return answer.headers['grpc-status'] ?? OK
  }

  const ends: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
    'a connection that is cut': stream => stream.session!.socket.destroy(),
    'a farewell that leaves the call out': stream => stream.session!.destroy(),
    'a refusal of the stream': stream => stream.close(constants.NGHTTP2_REFUSED_STREAM),
  }
  for (const [name, end] of Object.entries(ends)) {
    it(`${name}: it is made once more, on a new connection`, async () => {
      onCall = (stream, before) => (before === 0 ? end(stream) : accept(stream))
      expect([await send(), calls, sessions.length]).to.deep.equal([OK, 2, 2])
    })

    it(`${name}, twice: UNAVAILABLE`, async () => {
      onCall = end
      expect([await send(), calls]).to.deep.equal([UNAVAILABLE, 2])
    })
  }

  it('kept connections that all end together keep no call from its answer', async () => {
    for (let i = 0; i < 4; i++) expect(await send()).to.equal(OK)
    const before = sessions.length
    for (const session of sessions) session.socket.destroy()
    expect(await Promise.all(Array.from({ length: 8 }, send))).to.deep.equal(Array.from({ length: 8 }, () => OK))
    expect(before).to.equal(4)
  })

  it('an answer that breaks off is not asked for again: UNAVAILABLE', async () => {
    onCall = stream => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write('x', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    }
    expect([await send(), calls]).to.deep.equal([UNAVAILABLE, 1])
  })
})
