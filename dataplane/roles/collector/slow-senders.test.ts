import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { LOGS_EXPORT_PATH } from '../../otlp-intake/grpc-message.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { callGrpc, grpcMessage, type Harness, startHarness } from './testing/collector-harness.ts'
import { buildJson, buildProtobuf, type RequestConfig } from './testing/requests.ts'

const PENDING_BYTES = 1 << 20
const REQUEST_BYTES = 900_000
/** More than what is left for requests that are whole. */
const LARGE = { messages: ['x'.repeat(300_000)] }
const SMALL = { messages: ['hello'] }
const HEAD = 'POST /v1/logs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

describe('a sender whose body does not come on', () => {
  const clock = createFakeClock()
  let harness: Harness
  let closeAll: (() => void)[]
  beforeEach(async () => {
    closeAll = []
    harness = await startHarness({ maxPendingBytes: PENDING_BYTES, maxRequestBytes: REQUEST_BYTES }, clock)
  })
  afterEach(async () => {
    for (const close of closeAll) close()
    await harness.collector.stop()
  })

  const pendingBytes = async () => {
    const text = await (await fetch(`${harness.healthUrl}/metrics`)).text()
    return Number(/^service_collector_pending_bytes (.*)$/m.exec(text)![1])
  }
  const untilHeld = async (bytes: number) => {
    while ((await pendingBytes()) < bytes) await new Promise(setImmediate)
  }

  /** Sends the head and the beginning of a body over HTTP/1.1; gives all that comes back. */
  const beginHttp = (headers: string, ...parts: readonly string[]): Promise<string> => {
    const socket = connect(harness.httpPort, '127.0.0.1')
    closeAll.push(() => socket.destroy())
    let text = ''
    socket.on('data', data => (text += data))
    socket.write(`${HEAD}${headers}\r\n`)
    for (const part of parts) socket.write(part)
    return once(socket, 'close').then(() => text)
  }
  const beginCall = (bytes: number): Promise<string> => {
    const session = connectHttp2(`http://127.0.0.1:${harness.grpcPort}`)
    session.on('error', () => undefined)
    closeAll.push(() => session.destroy())
    const stream = session.request({ ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' })
    stream.on('error', () => undefined)
    stream.write(grpcMessage(Buffer.alloc(REQUEST_BYTES)).subarray(0, bytes))
    return once(stream, 'response').then(
      ([answer]) => `grpc-status ${answer['grpc-status']}, details ${answer['grpc-status-details-bin'] !== undefined}`,
    )
  }
  const begun = 'x'.repeat(600_000)

  const doors: readonly { readonly name: string; readonly begin: () => Promise<string>; readonly answer: RegExp }[] = [
    {
      name: 'a plain body',
      begin: () => beginHttp('Content-Length: 800000\r\n', begun),
      answer: /^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*came too slowly/s,
    },
    {
      name: 'a body in chunks',
      begin: () => beginHttp('Transfer-Encoding: chunked\r\n', `${begun.length.toString(16)}\r\n`, begun),
      answer: /^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*came too slowly/s,
    },
    { name: 'a gRPC message', begin: () => beginCall(600_000), answer: /^grpc-status 8, details true$/ },
  ]
  const senders = {
    'over HTTP': async (content: RequestConfig) => (await harness.post(buildJson(content))).status === 200,
    'over gRPC': async (content: RequestConfig) => {
      const { trailers } = await callGrpc(harness.grpcPort, { frames: [grpcMessage(buildProtobuf(content))] })
      return trailers['grpc-status'] === '0'
    },
  }
  for (const { name, begin, answer } of doors)
    for (const [way, send] of Object.entries(senders))
      it(`${name}: refuses no small request ${way}, and after five seconds no large one`, async () => {
        const refused = begin()
        await untilHeld(600_000)
        expect([await send(SMALL), await send(LARGE)]).to.deep.equal([true, false])
        clock.advance(5_000)
        expect(await send(LARGE)).to.equal(true)
        expect(await refused).to.match(answer)
        expect(await pendingBytes()).to.equal(0)
      })

  it('is served where nobody needs its memory', async () => {
    const body = buildJson(LARGE)
    const socket = connect(harness.httpPort, '127.0.0.1')
    closeAll.push(() => socket.destroy())
    socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`)
    await untilHeld(300_000)
    clock.advance(29_000)
    expect((await harness.post(buildJson(SMALL))).status).to.equal(200)
    socket.write(body.slice(-1))
    expect(String((await once(socket, 'data'))[0])).to.match(/^HTTP\/1\.1 200 /)
  })
})
