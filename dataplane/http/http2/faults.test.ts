import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { ERROR_CODE, FLAG, FRAME, SETTING } from './protocol.ts'
import { MAX_CONCURRENT_STREAMS } from './streams.ts'
import { codeOf, data, END, HEAD, type Http2Harness, headers, literal, OK, startHttp2Harness, until } from './testing/http2-harness.ts'
import { GREETING, PREFACE_BYTES, type RawClient, rawFrame, settingBytes, uint32 } from './testing/raw-client.ts'

const faults: readonly { readonly name: string; readonly send: readonly Uint8Array[]; readonly code: number }[] = [
  { name: 'another preface', send: [Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')], code: ERROR_CODE.protocol },
  { name: 'something else than settings first', send: [PREFACE_BYTES, headers(1)], code: ERROR_CODE.protocol },
  { name: 'a frame larger than agreed', send: [GREETING, data(1, Buffer.alloc(16_385))], code: ERROR_CODE.frameSize },
  { name: 'data of no stream', send: [GREETING, data(0, HEAD)], code: ERROR_CODE.protocol },
  { name: 'data of a stream that is not open', send: [GREETING, data(1, HEAD)], code: ERROR_CODE.protocol },
  { name: 'a header of no stream', send: [GREETING, headers(0)], code: ERROR_CODE.protocol },
  { name: 'a header of an even stream', send: [GREETING, headers(2)], code: ERROR_CODE.protocol },
  { name: 'a header of an older stream', send: [GREETING, headers(5), headers(3)], code: ERROR_CODE.streamClosed },
  {
    name: 'padding longer than its frame',
    send: [GREETING, headers(1, END | FLAG.padded, Buffer.from([9, 0x83]))],
    code: ERROR_CODE.protocol,
  },
  {
    name: 'data padding longer than its frame',
    send: [GREETING, headers(1, FLAG.endHeaders), data(1, Buffer.from([9, 1]), FLAG.padded)],
    code: ERROR_CODE.protocol,
  },
  { name: 'a header cut short by its flags', send: [GREETING, headers(1, END | FLAG.priority, HEAD)], code: ERROR_CODE.frameSize },
  { name: 'a header block that is none', send: [GREETING, headers(1, END, Buffer.from([0x80]))], code: ERROR_CODE.compression },
  {
    name: 'a header block interrupted',
    send: [GREETING, headers(1, 0), rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    code: ERROR_CODE.protocol,
  },
  { name: 'a header block interrupted by data', send: [GREETING, headers(1, 0), data(1, HEAD)], code: ERROR_CODE.protocol },
  {
    name: 'a header block continued by another stream',
    send: [GREETING, headers(1, 0), rawFrame(FRAME.continuation, 4, 3)],
    code: ERROR_CODE.protocol,
  },
  { name: 'a continuation of nothing', send: [GREETING, rawFrame(FRAME.continuation, 4, 1)], code: ERROR_CODE.protocol },
  {
    name: 'continuations without end',
    send: [GREETING, headers(1, 0), ...Array.from({ length: 100 }, () => rawFrame(FRAME.continuation, 0, 1))],
    code: ERROR_CODE.enhanceYourCalm,
  },
  { name: 'a priority of no stream', send: [GREETING, rawFrame(FRAME.priority, 0, 0, Buffer.alloc(5))], code: ERROR_CODE.protocol },
  { name: 'a reset of no stream', send: [GREETING, rawFrame(FRAME.resetStream, 0, 0, uint32(8))], code: ERROR_CODE.protocol },
  {
    name: 'a reset of another size',
    send: [GREETING, rawFrame(FRAME.resetStream, 0, 1, Buffer.alloc(3))],
    code: ERROR_CODE.frameSize,
  },
  { name: 'settings of a stream', send: [GREETING, rawFrame(FRAME.settings, 0, 1)], code: ERROR_CODE.protocol },
  { name: 'settings cut short', send: [GREETING, rawFrame(FRAME.settings, 0, 0, Buffer.alloc(5))], code: ERROR_CODE.frameSize },
  {
    name: 'an acknowledgement with content',
    send: [GREETING, rawFrame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6))],
    code: ERROR_CODE.frameSize,
  },
  {
    name: 'push that is neither on nor off',
    send: [GREETING, rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.enablePush, 2))],
    code: ERROR_CODE.protocol,
  },
  {
    name: 'an initial window that large',
    send: [GREETING, rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.initialWindowSize, 0x8000_0000))],
    code: ERROR_CODE.flowControl,
  },
  {
    name: 'frames that small',
    send: [GREETING, rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.maxFrameSize, 100))],
    code: ERROR_CODE.protocol,
  },
  { name: 'a pushed request', send: [GREETING, rawFrame(FRAME.pushPromise, 4, 1, uint32(2))], code: ERROR_CODE.protocol },
  { name: 'a ping of a stream', send: [GREETING, rawFrame(FRAME.ping, 0, 1, Buffer.alloc(8))], code: ERROR_CODE.protocol },
  { name: 'a ping of another size', send: [GREETING, rawFrame(FRAME.ping, 0, 0, Buffer.alloc(7))], code: ERROR_CODE.frameSize },
  { name: 'a farewell of a stream', send: [GREETING, rawFrame(FRAME.goAway, 0, 1, Buffer.alloc(8))], code: ERROR_CODE.protocol },
  {
    name: 'a window update of another size',
    send: [GREETING, rawFrame(FRAME.windowUpdate, 0, 0, Buffer.alloc(3))],
    code: ERROR_CODE.frameSize,
  },
  {
    name: 'a window update by nothing',
    send: [GREETING, rawFrame(FRAME.windowUpdate, 0, 0, uint32(0))],
    code: ERROR_CODE.protocol,
  },
  {
    name: 'a window that large',
    send: [GREETING, rawFrame(FRAME.windowUpdate, 0, 0, uint32(0x7fff_ffff))],
    code: ERROR_CODE.flowControl,
  },
]
const streamFaults: readonly { readonly name: string; readonly send: readonly Uint8Array[]; readonly code: number }[] = [
  { name: 'no :method', send: [headers(1, END, HEAD.subarray(1))], code: ERROR_CODE.protocol },
  { name: ':path twice', send: [headers(1, END, Buffer.concat([HEAD, HEAD.subarray(2)]))], code: ERROR_CODE.protocol },
  { name: 'an unknown pseudo field', send: [headers(1, END, Buffer.concat([HEAD, literal(':x', '1')]))], code: ERROR_CODE.protocol },
  { name: 'a pseudo field after others', send: [headers(1, END, Buffer.concat([literal('a', 'b'), HEAD]))], code: ERROR_CODE.protocol },
  { name: 'a name in upper case', send: [headers(1, END, Buffer.concat([HEAD, literal('Te', 'trailers')]))], code: ERROR_CODE.protocol },
  {
    name: 'a header of HTTP/1 connections',
    send: [headers(1, END, Buffer.concat([HEAD, literal('connection', 'x')]))],
    code: ERROR_CODE.protocol,
  },
  { name: 'te other than trailers', send: [headers(1, END, Buffer.concat([HEAD, literal('te', 'gzip')]))], code: ERROR_CODE.protocol },
  { name: 'a line break in a value', send: [headers(1, END, Buffer.concat([HEAD, literal('a', 'b\r\nc')]))], code: ERROR_CODE.protocol },
  {
    name: 'less data than promised',
    send: [headers(1, END, Buffer.concat([HEAD, literal('content-length', '1')]))],
    code: ERROR_CODE.protocol,
  },
  {
    name: 'more data than promised',
    send: [headers(1, FLAG.endHeaders, Buffer.concat([HEAD, literal('content-length', '1')])), data(1, HEAD, FLAG.endStream)],
    code: ERROR_CODE.protocol,
  },
  {
    name: 'trailers that are not the end',
    send: [headers(1, FLAG.endHeaders), headers(1, FLAG.endHeaders, literal('a', 'b'))],
    code: ERROR_CODE.protocol,
  },
  { name: 'a pseudo field in trailers', send: [headers(1, FLAG.endHeaders), headers(1)], code: ERROR_CODE.protocol },
  { name: 'data after the end', send: [headers(1), data(1, HEAD)], code: ERROR_CODE.streamClosed },
  { name: 'a header after the end', send: [headers(1), headers(1)], code: ERROR_CODE.streamClosed },
  { name: 'a priority of another size', send: [headers(1), rawFrame(FRAME.priority, 0, 1, Buffer.alloc(4))], code: ERROR_CODE.frameSize },
  { name: 'a window update by nothing', send: [headers(1), rawFrame(FRAME.windowUpdate, 0, 1, uint32(0))], code: ERROR_CODE.protocol },
  {
    name: 'a window that large',
    send: [headers(1), rawFrame(FRAME.windowUpdate, 0, 1, uint32(0x7fff_ffff))],
    code: ERROR_CODE.flowControl,
  },
  {
    name: 'a header list that long',
    send: [headers(1, END, Buffer.concat([HEAD, ...Array.from({ length: 120 }, () => literal('a', 'b'.repeat(120)))]))],
    code: ERROR_CODE.enhanceYourCalm,
  },
]
const empty: readonly { readonly name: string; readonly frame: Uint8Array }[] = [
  { name: 'pings', frame: rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8)) },
  { name: 'settings', frame: rawFrame(FRAME.settings, 0, 0) },
  { name: 'window updates', frame: rawFrame(FRAME.windowUpdate, 0, 0, uint32(1)) },
  { name: 'priorities', frame: rawFrame(FRAME.priority, 0, 1, Buffer.alloc(5)) },
  { name: 'resets of streams that are closed', frame: rawFrame(FRAME.resetStream, 0, 1, uint32(8)) },
  { name: 'frames of unknown types', frame: rawFrame(0x63, 0, 0) },
  { name: 'frames of no data', frame: data(1, Buffer.alloc(0)) },
]

describe('the HTTP/2 server and clients that err', () => {
  let harness: Http2Harness
  let client: RawClient
  beforeEach(async () => {
    harness = await startHttp2Harness()
    client = harness.client
  })
  afterEach(() => harness.stop())

  describe('the connection ends with a reason upon', () => {
    for (const { name, send, code } of faults)
      it(name, async () => {
        harness.control.isHolding = true
        client.send(...send)
        const goAway = await client.next(({ type }) => type === FRAME.goAway)
        expect(codeOf(goAway, 4)).to.equal(code)
        await client.rest()
      })

    it('more requests given up than it lets be answered', async () => {
      client.send(GREETING)
      for (let i = 0; i < 1001; i++) client.send(headers(2 * i + 1, FLAG.endHeaders), rawFrame(FRAME.resetStream, 0, 2 * i + 1, uint32(8)))
      expect(codeOf(await client.next(({ type }) => type === FRAME.goAway), 4)).to.equal(ERROR_CODE.enhanceYourCalm)
      expect(harness.seen.every(({ isCut }) => isCut)).to.equal(true)
    })

    const brokenBy = [
      { name: 'a window update by nothing', frame: (id: number) => rawFrame(FRAME.windowUpdate, 0, id, uint32(0)) },
      { name: 'a window update that large', frame: (id: number) => rawFrame(FRAME.windowUpdate, 0, id, uint32(0x7fff_ffff)) },
      { name: 'data behind their end', frame: (id: number) => data(id, Buffer.from('x')) },
      { name: 'trailers behind their end', frame: (id: number) => headers(id, END, HEAD) },
      { name: 'a priority of another size', frame: (id: number) => rawFrame(FRAME.priority, 0, id, Buffer.alloc(4)) },
    ]
    for (const { name, frame } of brokenBy)
      it(`more requests broken by ${name} than it lets be answered`, async () => {
        harness.control.isHolding = true
        client.send(GREETING)
        for (let i = 0; i < 1001; i++) {
          client.send(headers(2 * i + 1), frame(2 * i + 1))
          if (i % 100 !== 99) continue
          await until(() => harness.held.length === i + 1)
          // Answered, none of them is under way any more.
          for (const request of harness.held.slice(i - 99)) request.answer(OK)
        }
        expect(codeOf(await client.next(({ type }) => type === FRAME.goAway), 4)).to.equal(ERROR_CODE.enhanceYourCalm)
      })

    for (const { name, frame } of empty)
      it(`10,001 ${name}, which ask for nothing`, async () => {
        harness.control.isHolding = true
        client.send(GREETING, headers(1, FLAG.endHeaders), ...Array.from({ length: 10_001 }, () => frame))
        expect(codeOf(await client.next(({ type }) => type === FRAME.goAway), 4)).to.equal(ERROR_CODE.enhanceYourCalm)
        await client.rest()
      })
  })

  it('may ask for nothing as often as a client does that measures the way at each answer', async () => {
    const ping = rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8))
    client.send(GREETING)
    for (let i = 0; i < 4000; i++) {
      client.send(headers(2 * i + 1), ...Array.from({ length: 4 }, () => ping))
      if (i % 100 === 99) expect(await harness.answerTo(2 * i + 1)).to.equal(true)
    }
  })

  it('may ask for nothing for ever, a little at a time', async () => {
    const pings = Array.from({ length: 9000 }, (_, i) => rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8, i === 8999 ? 1 : 0)))
    client.send(GREETING)
    for (let i = 0; i < 3; i++) {
      client.send(...pings)
      await client.next(({ type, payload }) => type === FRAME.ping && payload[0] === 1)
      harness.control.nowMs += 5000
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  })

  describe('the stream alone is reset upon', () => {
    for (const { name, send, code } of streamFaults)
      it(name, async () => {
        harness.control.isHolding = true
        client.send(GREETING, ...send)
        const reset = await client.next(({ type }) => type === FRAME.resetStream)
        expect([reset.streamId, codeOf(reset, 0)]).to.deep.equal([1, code])
        harness.control.isHolding = false
        client.send(headers(9))
        expect(await harness.answerTo(9)).to.equal(true)
      })

    it('a request that does not come to its end in time', async () => {
      client.send(GREETING, headers(1, FLAG.endHeaders))
      await until(() => harness.seen.length === 1)
      harness.control.nowMs = 30_000
      expect(codeOf(await client.next(({ type }) => type === FRAME.resetStream), 0)).to.equal(ERROR_CODE.cancel)
      expect(harness.seen[0]!.isCut).to.equal(true)
    })

    it('one request more than may be under way; those given up count until they are done', async () => {
      harness.control.isHolding = true
      client.send(GREETING)
      for (let i = 0; i < MAX_CONCURRENT_STREAMS; i++) client.send(headers(2 * i + 1))
      await until(() => harness.held.length === MAX_CONCURRENT_STREAMS)
      client.send(rawFrame(FRAME.resetStream, 0, 1, uint32(8)), headers(1001))
      const reset = await client.next(({ type }) => type === FRAME.resetStream)
      expect([reset.streamId, codeOf(reset, 0)]).to.deep.equal([1001, ERROR_CODE.refusedStream])
      harness.held[0]!.answer(OK)
      client.send(headers(1003))
      await until(() => harness.held.length === MAX_CONCURRENT_STREAMS + 1)
    })
  })
})
