import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { expect } from 'chai'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { Answer } from './answer.ts'
import { ERROR_CODE, FLAG, FRAME, SETTING } from './protocol.ts'
import { codeOf, data, END, HEAD, type Http2Harness, headers, literal, OK, startHttp2Harness, until } from './testing/http2-harness.ts'
import { type Frame, GREETING, PREFACE_BYTES, type RawClient, rawFrame, settingBytes, uint32 } from './testing/raw-client.ts'

describe('the HTTP/2 server (RFC 9113)', () => {
  let harness: Http2Harness
  let client: RawClient
  beforeEach(async () => {
    harness = await startHttp2Harness()
    client = harness.client
  })
  afterEach(() => harness.stop())

  describe('requests', () => {
    it('a request cut anywhere on its way is put together again', async () => {
      const bytes = Buffer.concat([
        GREETING,
        headers(1, FLAG.endHeaders),
        data(1, Buffer.from('ab')),
        data(1, Buffer.from('cd'), FLAG.endStream),
      ])
      for (const byte of bytes) {
        client.send(Buffer.from([byte]))
        await new Promise(setImmediate)
      }
      expect(await harness.answerTo(1)).to.equal(true)
      expect(harness.seen[0]!.body.toString()).to.equal('abcd')
    })

    it('a header in several frames, padding and priorities', async () => {
      const padded = Buffer.concat([Buffer.from([3]), uint32(0), Buffer.from([16]), HEAD.subarray(0, 1), Buffer.alloc(3)])
      client.send(GREETING, headers(1, FLAG.padded | FLAG.priority, padded))
      client.send(
        rawFrame(FRAME.continuation, 0, 1, HEAD.subarray(1, 2)),
        rawFrame(FRAME.continuation, FLAG.endHeaders, 1, HEAD.subarray(2)),
      )
      client.send(data(1, Buffer.from('\x02ab\0\0', 'latin1'), FLAG.padded | FLAG.endStream))
      expect(await harness.answerTo(1)).to.equal(true)
      expect(harness.seen[0]!.body.toString()).to.equal('ab')
    })

    it('a host beside another :authority, or twice, resets the stream', async () => {
      const block = (authority: string, ...hosts: readonly string[]) =>
        Buffer.concat([HEAD, literal(':authority', authority), ...hosts.map(host => literal('host', host))])
      client.send(GREETING, headers(1, END, block('a:1', 'b:1')), headers(3, END, block('a', 'a', 'a')), headers(5, END, block('A', 'a')))
      for (const id of [1, 3]) {
        const reset = await client.next(({ type, streamId }) => type === FRAME.resetStream && streamId === id)
        expect(codeOf(reset, 0)).to.equal(ERROR_CODE.protocol)
      }
      expect(await harness.answerTo(5)).to.equal(true)
    })

    it('trailers, frames of unknown types, and priorities are passed over', async () => {
      client.send(GREETING, rawFrame(0x42, 0xff, 7, Buffer.alloc(9)), rawFrame(FRAME.priority, 0, 9, Buffer.alloc(5)))
      client.send(headers(1, FLAG.endHeaders), data(1, Buffer.from('a')), headers(1, END, literal('x-sum', '1')))
      expect(await harness.answerTo(1)).to.equal(true)
    })

    it('a ping and settings are acknowledged', async () => {
      client.send(GREETING, rawFrame(FRAME.ping, 0, 0, Buffer.from('12345678')))
      await client.next(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack)
      expect((await client.next(({ type }) => type === FRAME.ping)).payload.toString()).to.equal('12345678')
    })

    it('windows are opened again as data is taken', async () => {
      client.send(GREETING, headers(1, FLAG.endHeaders))
      const chunk = data(1, Buffer.alloc(16_384))
      for (let i = 0; i < 600; i++) client.send(chunk)
      const updates: number[] = []
      while (updates.length < 4) updates.push((await client.next(({ type }) => type === FRAME.windowUpdate)).streamId)
      client.send(data(1, Buffer.alloc(0), FLAG.endStream))
      expect(await harness.answerTo(1)).to.equal(true)
      expect(updates).to.deep.equal([0, 1, 1, 1])
      expect(harness.seen[0]!.body).to.have.length(600 * 16_384)
    })
  })

  describe('answers', () => {
    it('wait for the window of the stream, which may change', async () => {
      client.send(PREFACE_BYTES, rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.initialWindowSize, 0)), headers(1))
      await client.next(({ type }) => type === FRAME.headers)
      client.send(rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.initialWindowSize, 2)))
      expect((await client.next(({ type }) => type === FRAME.data)).payload.toString()).to.equal('he')
      client.send(rawFrame(FRAME.windowUpdate, 0, 1, uint32(100)))
      expect((await client.next(({ type }) => type === FRAME.data)).payload.toString()).to.equal('llo')
      expect(await harness.answerTo(1)).to.equal(true)
    })

    it('wait for the window of the connection', async () => {
      harness.control.isHolding = true
      client.send(GREETING, ...[1, 3, 5, 7, 9].map(id => headers(id)))
      await until(() => harness.held.length === 5)
      const large = new Answer({ head: [[':status', '200']], body: Buffer.alloc(16_000) })
      for (const exchange of harness.held) exchange.answer(large)
      const isLast = ({ type, streamId }: Frame) => type === FRAME.data && streamId === 9
      const before = (await client.next(isLast)).payload.length
      client.send(rawFrame(FRAME.windowUpdate, 0, 0, uint32(20_000)))
      const after = (await client.next(isLast)).payload.length
      expect([before, after]).to.deep.equal([65_535 - 4 * 16_000, 5 * 16_000 - 65_535])
    })

    it('empty the table of a client that has made it smaller (RFC 7541, 4.2)', async () => {
      client.send(PREFACE_BYTES, rawFrame(FRAME.settings, 0, 0, settingBytes(SETTING.headerTableSize, 0)), headers(1), headers(3))
      const first = await client.next(({ type }) => type === FRAME.headers)
      expect(first.payload[0]).to.equal(0x20)
      expect((await client.next(({ type, streamId }) => type === FRAME.headers && streamId === 3)).payload[0]).to.equal(0x88)
    })
  })

  describe('connections', () => {
    it('without a greeting are closed', async () => {
      harness.control.nowMs = 10_000
      expect(await client.rest()).to.have.length(2)
    })

    it('that end cut the requests under way', async () => {
      harness.control.isHolding = true
      client.send(GREETING, headers(1))
      await until(() => harness.held.length === 1)
      client.close()
      await until(() => harness.seen[0]!.isCut)
      harness.held[0]!.answer(OK)
    })

    it('of a client that reads nothing are cut', async () => {
      client.send(GREETING)
      client.pause()
      for (let first = 0; !client.isClosed(); first += 200) {
        client.send(...Array.from({ length: 200 }, (_, i) => headers(2 * (first + i) + 1)))
        await new Promise(setImmediate)
      }
    })

    for (const who of ['server', 'client'])
      it(`closing by the ${who}: what is under way is answered, what comes later is not taken`, async () => {
        harness.control.isHolding = true
        client.send(GREETING, headers(1), headers(3))
        await until(() => harness.held.length === 2)
        const stopped = who === 'server' ? harness.stop(5_000) : client.send(rawFrame(FRAME.goAway, 0, 0, Buffer.alloc(8)))
        const goAway = await client.next(({ type }) => type === FRAME.goAway)
        expect([codeOf(goAway, 0), codeOf(goAway, 4)]).to.deep.equal([3, ERROR_CODE.none])
        client.send(headers(5))
        for (const exchange of harness.held) exchange.answer(OK)
        const frames = await client.rest()
        expect(new Set(frames.map(({ streamId }) => streamId))).to.deep.equal(new Set([1, 3]))
        await stopped
      })
  })

  describe("Node's own client", () => {
    let session: ClientHttp2Session
    beforeEach(() => {
      session = connect(`http://127.0.0.1:${harness.port}`)
    })
    afterEach(() => session.destroy())
    const call = async (requestHeaders: IncomingHttpHeaders, body: Uint8Array) => {
      const stream = session.request({ ':method': 'POST', ...requestHeaders })
      stream.end(body)
      const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      stream.resume()
      await once(stream, 'end')
      return answer[':status']
    }

    it('any headers and bodies arrive as they were sent', async () => {
      const value = fc.string({ unit: fc.constantFrom(...'abcXYZ019 ;,/"=é'), maxLength: 60 }).map(text => text.trim())
      const name = fc.string({ unit: fc.constantFrom(...'abcdefxyz019-_'), minLength: 1, maxLength: 20 }).map(text => `x${text}`)
      const bodies = fc.uint8Array({ maxLength: 70_000 })
      const property = fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 10 }), bodies, async (fields, body) => {
        expect(await call(fields, body)).to.equal(200)
        const request = harness.seen.at(-1)!
        for (const [key, sent] of Object.entries(fields)) expect(request.head.get(key)).to.equal(sent)
        expect(request.body.equals(body)).to.equal(true)
      })
      await fc.assert(property, { numRuns: rounds(50) })
    })

    it('hundreds of requests at once on one connection', async () => {
      const statuses = await Promise.all(Array.from({ length: 600 }, (_, i) => call({}, Buffer.alloc(i))))
      expect(new Set(statuses)).to.deep.equal(new Set([200]))
      expect(new Set(harness.seen.map(({ body }) => body.length)).size).to.equal(600)
    })
  })
})
