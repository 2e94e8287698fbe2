/** Answers that are given before the request is whole: the client gets them while it still sends. */
import { connect } from 'node:http2'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import type { HttpServer } from '../server.ts'
import { Answer } from './answer.ts'
import { ERROR_CODE, FLAG, FRAME } from './protocol.ts'
import { startHttp2Server } from './server.ts'
import { NO_RECEIVER } from './stream.ts'
import { STREAM_WINDOW_BYTES } from './streams.ts'
import { codeOf, data, HEAD, headers, literal } from './testing/http2-harness.ts'
import { connectRaw, type Frame, GREETING, type RawClient, rawFrame } from './testing/raw-client.ts'

const REFUSAL = new Answer({ head: [[':status', '401']], body: Buffer.from('no key') })
const PIECE = Buffer.alloc(16_384)
const LATE_MS = 2_000

describe('a request over HTTP/2 that is answered before it is whole', () => {
  let server: HttpServer
  let client: RawClient
  let nowMs: number
  beforeEach(async () => {
    nowMs = 0
    const createHandler = () => (_: unknown, exchange: { answer(answer: Answer): void }) => {
      exchange.answer(REFUSAL)
      return NO_RECEIVER
    }
    server = await startHttp2Server(
      { createHandler, monotonicMs: () => nowMs, log: SILENT, checkMs: 5 },
      { host: '127.0.0.1', port: 0, setting: 'PORT' },
    )
    client = await connectRaw(server.port)
  })
  afterEach(async () => {
    client.close()
    await server.stop(0)
  })

  const begin = (streamId: number, length?: number) =>
    headers(streamId, FLAG.endHeaders, length === undefined ? HEAD : Buffer.concat([HEAD, literal('content-length', String(length))]))
  const isEnd = ({ type, flags }: Frame) => type === FRAME.data && (flags & FLAG.endStream) !== 0
  const answered = (streamId: number) => client.next(frame => frame.streamId === streamId && isEnd(frame))
  /** All frames up to the answer to a ping. */
  const upToPing = async () => {
    const frames: Frame[] = []
    client.send(rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8)))
    await client.next(frame => {
      frames.push(frame)
      return frame.type === FRAME.ping
    })
    return frames.filter(({ type }) => type === FRAME.resetStream || type === FRAME.goAway)
  }
  const reset = () => client.next(({ type }) => type === FRAME.resetStream)

  it('is not reset while it goes on, nor when it ends as promised', async () => {
    client.send(GREETING, begin(1, 3 * PIECE.length))
    await answered(1)
    client.send(data(1, PIECE), data(1, PIECE))
    expect(await upToPing()).to.deep.equal([])
    client.send(data(1, PIECE, FLAG.endStream), begin(3))
    await answered(3)
    expect(await upToPing()).to.deep.equal([])
    client.send(data(1, PIECE))
    expect(codeOf(await client.next(({ type }) => type === FRAME.goAway), 4)).to.equal(ERROR_CODE.streamClosed)
  })

  it('may end with trailers, or be given up', async () => {
    client.send(GREETING, begin(1), begin(3))
    await answered(3)
    client.send(data(1, PIECE), headers(1, FLAG.endHeaders | FLAG.endStream, literal('x', '1')))
    client.send(data(3, PIECE), rawFrame(FRAME.resetStream, 0, 3, Buffer.alloc(4)))
    expect(await upToPing()).to.deep.equal([])
  })

  it('is reset without an error when it ends before it should: curl waits for that', async () => {
    client.send(GREETING, begin(1, 3 * PIECE.length))
    await answered(1)
    client.send(data(1, PIECE, FLAG.endStream))
    expect(codeOf(await reset(), 0)).to.equal(ERROR_CODE.none)
  })

  it('is read on as far as its window goes, and no further', async () => {
    client.send(GREETING, begin(1))
    await answered(1)
    const pieces = STREAM_WINDOW_BYTES / PIECE.length
    client.send(...Array.from({ length: pieces - 1 }, () => data(1, PIECE)))
    expect(await upToPing()).to.deep.equal([])
    client.send(data(1, PIECE))
    expect(codeOf(await reset(), 0)).to.equal(ERROR_CODE.none)
    client.send(data(1, PIECE), begin(3))
    await answered(3)
  })

  it('is read on for two seconds, and no longer', async () => {
    client.send(GREETING, begin(1))
    await answered(1)
    nowMs = LATE_MS - 1
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(await upToPing()).to.deep.equal([])
    nowMs = LATE_MS
    expect(codeOf(await reset(), 0)).to.equal(ERROR_CODE.none)
  })

  it('keeps a connection that is to end until the client has sent the rest', async () => {
    client.send(GREETING, begin(1))
    await answered(1)
    client.send(rawFrame(FRAME.goAway, 0, 0, Buffer.alloc(8)), data(1, PIECE))
    await client.next(({ type }) => type === FRAME.goAway)
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(client.isClosed()).to.equal(false)
    client.send(data(1, PIECE, FLAG.endStream))
    expect(await client.rest()).to.deep.equal([])
  })

  it('shows its answer to node:http2', async () => {
    const session = connect(`http://127.0.0.1:${server.port}`)
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    const pieces: Buffer[] = []
    const status = new Promise(resolve => stream.once('response', head => resolve(head[':status'])))
    for (let i = 0; i < 20; i++) stream.write(Buffer.alloc(100_000))
    stream.end()
    for await (const piece of stream) pieces.push(piece as Buffer)
    expect([await status, Buffer.concat(pieces).toString(), stream.rstCode]).to.deep.equal([401, 'no key', 0])
    session.destroy()
  })
})
