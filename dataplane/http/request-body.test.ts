import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { mock } from 'node:test'
import { createGunzip, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { endAfterRequest } from './end-after-request.ts'
import { type BodyForm, type JsonErrors, parseJson, readBody } from './request-body.ts'

const named = (name: string) => () => new Error(name)
const FORM: BodyForm = { maxBytes: 10, errors: { tooLarge: maxBytes => new Error(`more than ${maxBytes}`), cutShort: named('cut short') } }
const GZIP: BodyForm = {
  ...FORM,
  maxBytes: 100,
  unpack: {
    decoders: new Map([['gzip', createGunzip]]),
    errors: { unknownEncoding: encoding => new Error(`unknown ${encoding}`), notAsEncoded: encoding => new Error(`no ${encoding}`) },
  },
}

/** A request whose body the test writes. */
function requestWith(headers: Readonly<Record<string, string>> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage
}

/** The body as text, or the message of the error. */
const outcome = (body: Promise<Buffer>) =>
  body.then(
    bytes => bytes.toString(),
    (error: Error) => error.message,
  )

describe('a request body', () => {
  afterEach(() => mock.timers.reset())

  it('is read whole, up to the last byte that it may have', async () => {
    const request = requestWith()
    const body = outcome(readBody(request, FORM))
    request.write('12345')
    request.end('67890')
    expect(await body).to.equal('1234567890')
  })

  it('that came whole makes no error', async () => {
    let errors = 0
    const count = () => new Error(`error ${++errors}`)
    const request = requestWith()
    const closed = once(request, 'close')
    const body = readBody(request, { ...FORM, errors: { tooLarge: count, cutShort: count } })
    request.end('12345')
    await body
    await closed
    expect(errors).to.equal(0)
  })

  it('is refused with the first byte too many, and read no further', async () => {
    const request = requestWith()
    const body = outcome(readBody(request, FORM))
    request.write('12345')
    request.write('678901')
    expect(await body).to.equal('more than 10')
    expect(request.isPaused()).to.equal(true)
  })

  it('is refused by the length that it announces', async () => {
    expect(await outcome(readBody(requestWith({ 'content-length': '11' }), FORM))).to.equal('more than 10')
  })

  it('whose connection ends early is cut short, also when that was before it was read', async () => {
    const request = requestWith()
    const body = outcome(readBody(request, FORM))
    request.write('1')
    request.destroy()
    expect([await body, await outcome(readBody(request, FORM))]).to.deep.equal(['cut short', 'cut short'])
  })

  it('of which nothing comes for too long is refused, and its client still gets an answer', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const request = requestWith()
    const body = outcome(readBody(request, { ...FORM, idle: { ms: 1000, error: named('stalled') } }))
    request.write('1')
    mock.timers.tick(999)
    expect(request.isPaused()).to.equal(false)
    mock.timers.tick(1)
    expect(await body).to.equal('stalled')
    expect([request.isPaused(), request.destroyed]).to.deep.equal([true, false])
  })

  it('counts against the memory for it with each piece, and what there is no room for is refused', async () => {
    const held: number[] = []
    const shared = {
      grow(bytes: number) {
        if (held.length === 2) throw new Error('no room')
        held.push(bytes)
      },
    }
    const request = requestWith()
    const body = outcome(readBody(request, { ...FORM, shared }))
    for (const piece of ['1', '22', '333']) request.write(piece)
    expect(await body).to.equal('no room')
    expect(held).to.deep.equal([1, 2])
  })

  it('tells the memory when it begins, when nothing of it is missing, and when it is whole', async () => {
    const seen: unknown[] = []
    const shared = {
      begin: () => seen.push('begin'),
      grow: (bytes: number, isLast?: boolean) => seen.push([bytes, isLast]),
      end: () => seen.push('end'),
    }
    const request = requestWith({ 'content-length': '3' })
    const body = outcome(readBody(request, { ...FORM, shared }))
    request.write('1')
    request.end('22')
    expect(await body).to.equal('122')
    expect(seen).to.deep.equal(['begin', [1, false], [2, true], 'end'])
  })

  it('ends, paused, when its memory is taken for others', async () => {
    let giveUp: ((error: Error) => void) | undefined
    const request = requestWith()
    const begin = (onGivenUp: (error: Error) => void) => {
      giveUp = onGivenUp
    }
    const body = outcome(readBody(request, { ...FORM, shared: { begin, grow: () => undefined } }))
    request.write('1')
    giveUp!(new Error('too slow'))
    expect(await body).to.equal('too slow')
    expect([request.isPaused(), request.destroyed]).to.deep.equal([true, false])
  })

  it('in pieces of few bytes takes few pieces of memory', async () => {
    const text = Array.from({ length: 40_000 }, (_none, at) => String.fromCharCode(97 + (at % 26))).join('')
    let joined: readonly Buffer[] = []
    const memory = {
      join(pieces: readonly Buffer[]) {
        joined = pieces
        return Buffer.concat(pieces)
      },
      release: () => undefined,
      drop: () => undefined,
    }
    const request = requestWith()
    const body = outcome(readBody(request, { ...FORM, maxBytes: text.length, memory }))
    for (const letter of text) request.write(letter)
    request.end()
    expect(await body).to.equal(text)
    expect(joined.length).to.be.below(10)
    expect(joined.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).to.be.below(2 * text.length)
  })

  it('is the same in pieces of any length', async () => {
    for (let round = 0; round < 50; round++) {
      const pieces = Array.from({ length: 20 }, (_none, at) =>
        Buffer.alloc([0, 1, 900, 1023, 1024, 17_000][(at * round + at) % 6]!, at + 1),
      )
      const request = requestWith()
      const body = readBody(request, { ...FORM, maxBytes: 1_000_000 })
      for (const piece of pieces) request.write(Buffer.from(piece))
      request.end()
      expect((await body).equals(Buffer.concat(pieces))).to.equal(true)
    }
  })

  it('is unpacked, and what was sent is given back', async () => {
    const packed = gzipSync('hello')
    const released: Buffer[] = []
    const memory = {
      join: (pieces: readonly Buffer[]) => Buffer.concat(pieces),
      release: (body: Buffer) => released.push(body),
      drop: () => undefined,
    }
    const request = requestWith({ 'content-encoding': ' GZIP' })
    const body = outcome(readBody(request, { ...GZIP, memory }))
    request.end(packed)
    expect(await body).to.equal('hello')
    expect(released).to.deep.equal([packed])
  })

  it('gives the pieces back that were there when it is refused, sent or unpacked', async () => {
    const dropped: string[] = []
    const memory = {
      join: (pieces: readonly Buffer[]) => Buffer.concat(pieces),
      release: () => undefined,
      drop: (pieces: readonly Buffer[]) => void dropped.push(Buffer.concat(pieces).toString()),
    }
    const sent = requestWith()
    const refused = outcome(readBody(sent, { ...FORM, memory }))
    for (const piece of ['12345', '67890', '1']) sent.write(piece)
    expect(await refused).to.equal('more than 10')
    expect(dropped.splice(0)).to.deep.equal(['1234567890'])
    const packed = requestWith({ 'content-encoding': 'gzip' })
    const bomb = outcome(readBody(packed, { ...GZIP, maxBytes: 20_000, memory }))
    packed.end(gzipSync('x'.repeat(50_000)))
    expect(await bomb).to.equal('more than 20000')
    expect(dropped).to.deep.equal(['x'.repeat(16_384)])
  })

  it('gives the memory of a refused one back to the system, of the rest that is read over as well', async () => {
    const request = requestWith()
    const pieces = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(64 * 1024))
    const refused = outcome(readBody(request, { ...FORM, maxBytes: 100_000 }))
    for (const piece of pieces.slice(0, 2)) request.write(piece)
    expect(await refused).to.equal('more than 100000')
    const answered = new Promise<void>(done => endAfterRequest(request, { end: done } as unknown as ServerResponse, 1_000))
    request.end(pieces[2])
    await answered
    // The second one, which was too much, is left to the collector.
    expect(pieces.map(({ length }) => length)).to.deep.equal([0, 64 * 1024, 0])
  })

  it('is refused when it unpacks to more than it may have', async () => {
    const request = requestWith({ 'content-encoding': 'gzip' })
    const body = outcome(readBody(request, GZIP))
    request.end(gzipSync('x'.repeat(101)))
    expect(await body).to.equal('more than 100')
  })

  it('is refused in an encoding that is not known, or when it is not encoded so', async () => {
    const request = requestWith({ 'content-encoding': 'gzip' })
    const body = outcome(readBody(request, GZIP))
    request.end('plain')
    expect(await body).to.equal('no gzip')
    expect(await outcome(readBody(requestWith({ 'content-encoding': 'lzma' }), GZIP))).to.equal('unknown lzma')
  })
})

describe('a body of JSON', () => {
  const ERRORS: JsonErrors = { tooDeep: named('too deep'), notUtf8: named('no UTF-8'), notJson: named('no JSON') }
  const parse = (bytes: Buffer) => {
    try {
      return parseJson(bytes, 2, ERRORS)
    } catch (error) {
      return (error as Error).message
    }
  }

  it('is parsed up to its depth; none at all is undefined', () => {
    expect(parse(Buffer.from('{"a":[1]}'))).to.deep.equal({ a: [1] })
    expect(parse(Buffer.alloc(0))).to.equal(undefined)
  })

  it('says what is wrong with it', () => {
    expect(parse(Buffer.from('[[[]]]'))).to.equal('too deep')
    expect(parse(Buffer.from([0x22, 0xff, 0x22]))).to.equal('no UTF-8')
    expect(parse(Buffer.from('[1'))).to.equal('no JSON')
  })
})
