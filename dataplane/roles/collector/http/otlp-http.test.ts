import { once } from 'node:events'
import { connect } from 'node:net'
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { decodeMessage } from '../../../otlp/testing/logs-proto.ts'
import type { BusErrorReason } from '../../../ports/bus.ts'
import { type Harness, startHarness } from '../testing/collector-harness.ts'
import { buildJson, buildPayload, buildProtobuf } from '../testing/requests.ts'

const ONE = { service: 'cart', messages: ['hello'] }
const PROTOBUF = { 'content-type': 'application/x-protobuf' }
const LIMIT = 4 * MAX_BUS_MESSAGE_BYTES

describe('OTLP over HTTP: POST /v1/logs', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await startHarness()
  })
  afterEach(() => harness.collector.stop())

  describe('accepting', () => {
    it('JSON: 200 { partialSuccess: {} } after the message bus acknowledged', async () => {
      const release = harness.bus.hold()
      let answered = false
      const posted = harness.post(buildJson(ONE)).then(answer => {
        answered = true
        return answer
      })
      await harness.post('{') // answered at once, so the first could have been
      expect(answered).to.equal(false)
      release()
      const answer = await posted
      expect([answer.status, answer.headers.get('content-type'), answer.json()]).to.deep.equal([
        200,
        'application/json',
        { partialSuccess: {} },
      ])
      expect(harness.payloads()).to.deep.equal([{ key: 'default/cart', payload: buildPayload(ONE) }])
      expect(harness.bus.sent[0]!.topic).to.equal('raw-logs')
    })

    it('protobuf is published as OTLP JSON; the answer is protobuf', async () => {
      const answer = await harness.post(buildProtobuf(ONE), PROTOBUF)
      expect([answer.status, answer.headers.get('content-type'), answer.body.length]).to.deep.equal([200, 'application/x-protobuf', 0])
      expect(harness.payloads()).to.deep.equal([{ key: 'default/cart', payload: buildPayload(ONE) }])
    })

    const compressions = { gzip: gzipSync, deflate: deflateSync, zstd: zstdCompressSync, identity: Buffer.from, 'X-GZIP': gzipSync }
    for (const [encoding, compress] of Object.entries(compressions))
      it(`content-encoding ${encoding}`, async () => {
        const answer = await harness.post(compress(Buffer.from(buildJson(ONE))), { 'content-encoding': encoding })
        expect(answer.status).to.equal(200)
        expect(harness.payloads()).to.have.length(1)
      })

    it('every frame of a zstd body and every member of a gzip body', async () => {
      const json = Buffer.from(buildJson({ service: 'cart', messages: ['x'.repeat(1 << 20), 'last'] }))
      const halves = [json.subarray(0, 20), json.subarray(20), Buffer.from(' ')]
      for (const [encoding, compress] of Object.entries({ zstd: zstdCompressSync, gzip: gzipSync })) {
        const answer = await harness.post(Buffer.concat(halves.map(half => compress(half))), { 'content-encoding': encoding })
        expect([encoding, answer.status]).to.deep.equal([encoding, 200])
      }
    })

    it('bytes after the end of the compressed data: 400', async () => {
      for (const [encoding, compress] of Object.entries({ zstd: zstdCompressSync, gzip: gzipSync, deflate: deflateSync })) {
        const body = Buffer.concat([compress(buildJson(ONE)), Buffer.from('rest')])
        const answer = await harness.post(body, { 'content-encoding': encoding })
        expect([encoding, answer.status]).to.deep.equal([encoding, 400])
      }
      expect(harness.payloads()).to.deep.equal([])
    })

    it('a zstd body of more frames than anyone sends: 400', async () => {
      const empty = zstdCompressSync('')
      const body = Buffer.concat(Array.from({ length: 2_000 }, () => empty))
      expect((await harness.post(body, { 'content-encoding': 'zstd' })).status).to.equal(400)
    })

    it('the bare deflate stream that some clients send', async () => {
      expect((await harness.post(deflateRawSync(buildJson(ONE)), { 'content-encoding': 'deflate' })).status).to.equal(200)
    })

    it('a body that grows beyond one step of decompression', async () => {
      const messages = Array.from({ length: 30 }, (_, i) => `${i}`.repeat(50_000))
      for (const [encoding, compress] of [['gzip', gzipSync] as const, ['zstd', zstdCompressSync] as const])
        expect((await harness.post(compress(Buffer.from(buildJson({ messages }))), { 'content-encoding': encoding })).status).to.equal(200)
      expect(harness.bus.sent.length).to.be.above(3)
    })

    it('parameters of the content type are accepted', async () => {
      expect((await harness.post(buildJson(ONE), { 'content-type': 'Application/JSON; charset=utf-8' })).status).to.equal(200)
    })

    const tenants = [
      { tenant: 'acme', key: 'acme/cart' },
      { tenant: 'Not A Tenant', key: 'default/cart' },
    ]
    for (const { tenant, key } of tenants)
      it(`keyed by tenant and service: ${tenant}`, async () => {
        await harness.post(buildJson({ ...ONE, tenant }))
        expect(harness.payloads()[0]!.key).to.equal(key)
      })

    it('no service.name: unknown_service', async () => {
      await harness.post(buildJson({ messages: ['a'] }))
      expect(harness.payloads()[0]!.key).to.equal('default/unknown_service')
    })

    const empties: readonly { name: string; body: string | Buffer; headers?: Record<string, string>; warned: boolean }[] = [
      { name: '{}', body: '{}', warned: false },
      { name: 'an empty protobuf message', body: Buffer.alloc(0), headers: PROTOBUF, warned: false },
      { name: '{"resourceLogs":[]}', body: '{"resourceLogs":[]}', warned: true },
      { name: 'a body of other fields', body: '{"logs":[{"message":"x"}]}', warned: true },
      { name: 'a protobuf without records', body: buildProtobuf({ service: 'cart', messages: [] }), headers: PROTOBUF, warned: true },
    ]
    for (const { name, body, headers = {}, warned } of empties)
      it(`zero records: ${name} is answered 200 ${warned ? 'with' : 'without'} a warning`, async () => {
        const answer = await harness.post(body, headers)
        const { partialSuccess } = (headers === PROTOBUF ? decodeMessage('ExportLogsServiceResponse', answer.body) : answer.json()) as {
          partialSuccess?: Record<string, unknown>
        }
        expect(answer.status).to.equal(200)
        expect(Object.keys(partialSuccess ?? {})).to.deep.equal(warned ? ['errorMessage'] : [])
        expect(harness.bus.sent).to.have.length(0)
      })

    it('big requests are split into messages of at most 900 KiB', async () => {
      const messages = Array.from({ length: 25 }, (_, i) => `${i % 10}`.repeat(100_000))
      expect((await harness.post(buildJson({ ...ONE, messages }))).json()).to.deep.equal({ partialSuccess: {} })
      expect(harness.bus.sent.map(({ record }) => record.value.length <= MAX_BUS_MESSAGE_BYTES)).to.deep.equal([true, true, true])
    })

    it('a record larger than the bus takes is rejected, the rest accepted', async () => {
      const answer = await harness.post(buildJson({ ...ONE, messages: ['a', 'x'.repeat(MAX_BUS_MESSAGE_BYTES), 'b'] }))
      const { partialSuccess } = answer.json() as { partialSuccess: Record<string, unknown> }
      expect([answer.status, partialSuccess['rejectedLogRecords']]).to.deep.equal([200, '1'])
      expect(partialSuccess['errorMessage']).to.equal(`1 log record is larger than the ${MAX_BUS_MESSAGE_BYTES} bytes of a bus message`)
    })

    it('a bus that takes less still takes what fits', async () => {
      harness.bus.limitRecords(1000)
      const [small, large] = await Promise.all([harness.post(buildJson(ONE)), harness.post(buildJson({ messages: ['y'.repeat(2000)] }))])
      expect([small.json(), (large.json() as { partialSuccess: object }).partialSuccess]).to.deep.include({ partialSuccess: {} })
      expect(large.json()).to.have.nested.property('partialSuccess.rejectedLogRecords', '1')
      expect(harness.payloads()).to.have.length(1)
    })

    it('small requests are batched while a send is under way; each is acknowledged', async () => {
      const release = harness.bus.hold()
      const first = harness.post(buildJson(ONE))
      while (!isHeld(harness)) await new Promise(setImmediate)
      const rest = Array.from({ length: 20 }, (_, i) => harness.post(buildJson({ service: i % 2 === 0 ? 'a' : 'b', messages: [`${i}`] })))
      await harness.post('{}')
      release()
      const answers = await Promise.all([first, ...rest])
      expect(answers.map(answer => answer.status)).to.deep.equal(Array(21).fill(200))
      const count = harness.payloads().reduce((sum, { payload }) => sum + payload.resourceLogs!.length, 0)
      expect(count).to.equal(21)
      expect(harness.bus.sendCount).to.be.below(21)
    })
  })

  describe('refusing', () => {
    const bomb = gzipSync(Buffer.alloc(LIMIT + 1, 0x20))
    const refusals: readonly {
      name: string
      body: string | Uint8Array
      headers?: Record<string, string>
      status: number
      code: number
      error: RegExp
    }[] = [
      {
        name: 'malformed JSON',
        body: '{"resourceLogs":',
        status: 400,
        code: 3,
        error: /^resourceLogs: expected a list, saw the end of the input/,
      },
      { name: 'an empty body', body: '', status: 400, code: 3, error: /expected an object/ },
      {
        name: 'a wrong type',
        body: '{"resourceLogs":[{"resource":5}]}',
        status: 400,
        code: 3,
        error: /^resourceLogs\[0\]\.resource: expected an object, saw 5/,
      },
      { name: 'another content type', body: '{}', headers: { 'content-type': 'text/plain' }, status: 415, code: 3, error: /content-type/ },
      {
        name: 'an unknown encoding',
        body: '{}',
        headers: { 'content-encoding': 'br' },
        status: 415,
        code: 12,
        error: /expected one of gzip/,
      },
      {
        name: 'several encodings',
        body: '{}',
        headers: { 'content-encoding': 'gzip, gzip' },
        status: 415,
        code: 12,
        error: /saw gzip, gzip/,
      },
      {
        name: 'no gzip where it says so',
        body: '{}',
        headers: { 'content-encoding': 'gzip' },
        status: 400,
        code: 3,
        error: /expected gzip data/,
      },
      {
        name: 'gzip cut off',
        body: gzipSync('{}').subarray(0, 15),
        headers: { 'content-encoding': 'gzip' },
        status: 400,
        code: 3,
        error: /gzip/,
      },
      {
        name: 'a body over the limit',
        body: Buffer.alloc(LIMIT + 1, 0x20),
        status: 413,
        code: 8,
        error: new RegExp(`: expected at most ${LIMIT} bytes \\(MAX_REQUEST_BYTES\\), saw ${LIMIT + 1}$`),
      },
      {
        name: 'a decompression bomb',
        body: bomb,
        headers: { 'content-encoding': 'gzip' },
        status: 413,
        code: 8,
        error: /after decompression/,
      },
      {
        name: 'a zstd bomb',
        body: zstdCompressSync(Buffer.alloc(LIMIT + 1, 0x20)),
        headers: { 'content-encoding': 'zstd' },
        status: 413,
        code: 8,
        error: /after decompression/,
      },
    ]
    it('what a proxy says it has added does not count against the sender', async () => {
      const one = Buffer.from(buildJson(ONE))
      const send = (bytes: number, added: string) =>
        harness.post(Buffer.concat([one, Buffer.alloc(bytes - one.length, 0x20)]), { 'x-service-added-bytes': added })
      for (const [bytes, added, status] of [
        [LIMIT + 100, '100', 200],
        [LIMIT + 101, '100', 413],
        [LIMIT + 1, '-5', 413],
        [LIMIT + 1, 'many', 413],
      ] as const)
        expect((await send(bytes, added)).status, added).to.equal(status)
    })

    for (const { name, body, headers = {}, status, code, error } of refusals)
      it(`${status} for ${name}`, async () => {
        const answer = await harness.post(body, headers)
        const json = answer.json()
        expect([answer.status, Object.keys(json), json['status'], json['code']]).to.deep.equal([
          status,
          ['error', 'status', 'code', 'message'],
          status,
          code,
        ])
        expect(json['error']).to.match(error).and.to.equal(json['message'])
        expect(harness.bus.sent).to.have.length(0)
      })

    it('a protobuf request gets a protobuf google.rpc.Status', async () => {
      const answer = await harness.post(Buffer.from([0x0a, 5, 1]), PROTOBUF)
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([400, 'application/x-protobuf'])
      expect(decodeMessage('Status', answer.body)).to.include({ code: 3 })
    })

    it('404 for another path, 405 with Allow for another method', async () => {
      expect((await fetch(`${harness.httpUrl}/v1/traces`, { method: 'POST' })).status).to.equal(404)
      const answer = await fetch(`${harness.httpUrl}/v1/logs`)
      expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'POST'])
    })

    for (const { name, request, status, code } of [
      { name: 'no HTTP', request: 'hello\r\n\r\n', status: 400, code: 3 },
      { name: 'no host', request: 'POST /v1/logs HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', status: 400, code: 3 },
      {
        name: 'a malformed chunk',
        request: 'POST /v1/logs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        status: 400,
        code: 3,
      },
      { name: 'endless headers', request: `POST /v1/logs HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431, code: 8 },
    ])
      it(`${status} with the code and the message for ${name}`, async () => {
        const socket = connect(harness.httpPort, '127.0.0.1', () => socket.write(request))
        let answer = ''
        socket.on('data', data => {
          answer += data
        })
        await once(socket, 'close')
        const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
        expect(Object.keys(body)).to.deep.equal(['error', 'status', 'code', 'message'])
        expect([Number(answer.slice(9, 12)), body.status, body.code, body.message]).to.deep.equal([status, status, code, body.error])
      })

    const busFailures: readonly { reason: BusErrorReason; status: number }[] = [
      { reason: 'overloaded', status: 429 },
      { reason: 'unavailable', status: 503 },
      { reason: 'full', status: 503 },
      { reason: 'closed', status: 503 },
    ]
    for (const { reason, status } of busFailures)
      it(`${status} with Retry-After while the bus is ${reason}, 200 when it has recovered`, async () => {
        harness.bus.failWith(reason)
        const [json, protobuf] = [await harness.post(buildJson(ONE)), await harness.post(buildProtobuf(ONE), PROTOBUF)]
        expect([json.status, protobuf.status]).to.deep.equal([status, status])
        expect(Number(json.headers.get('retry-after'))).to.be.above(0)
        expect(decodeMessage('Status', protobuf.body)['details']).to.have.length(1)
        harness.bus.failWith(undefined)
        expect((await harness.post(buildJson(ONE))).status).to.equal(200)
      })
  })

  describe('bounded', () => {
    it('429 with Retry-After at the memory limit; nothing stays held', async () => {
      await harness.collector.stop()
      harness = await startHarness({ maxPendingBytes: 1 << 20 })
      const release = harness.bus.hold()
      const large = buildJson({ messages: ['z'.repeat(700_000)] })
      const first = harness.post(large)
      while (!isHeld(harness)) await new Promise(setImmediate)
      const second = await harness.post(large)
      expect([second.status, second.headers.has('retry-after')]).to.deep.equal([429, true])
      release()
      expect((await first).status).to.equal(200)
      expect((await harness.post(large)).status).to.equal(200)
      expect(await metric(harness, 'service_collector_pending_bytes')).to.equal(0)
    })

    it('a client that hangs up mid-body leaves nothing held and is no error of ours', async () => {
      const socket = connect(harness.httpPort, '127.0.0.1')
      socket.write('POST /v1/logs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"resourceLogs":[')
      while ((await metric(harness, 'service_collector_pending_bytes')) === 0) await new Promise(setImmediate)
      socket.destroy()
      while ((await metric(harness, 'service_collector_pending_bytes')) > 0) await new Promise(setImmediate)
      expect((await harness.post(buildJson(ONE))).status).to.equal(200)
      expect(harness.loggedErrors).to.deep.equal([])
    })

    it('a client that waits for 100 Continue gets the 413 in its place, before it sends anything', async () => {
      const socket = connect(harness.httpPort, '127.0.0.1')
      const lines = ['POST /v1/logs HTTP/1.1', 'Host: a', 'Content-Type: application/json', `Content-Length: ${LIMIT + 1}`]
      socket.write(`${lines.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`)
      const head = await new Promise<string>(resolve => socket.once('data', data => resolve(data.toString())))
      socket.destroy()
      expect(head).to.match(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n/i)
    })

    it('a chunked body over the limit is stopped there, and the client reads the 413', async () => {
      const socket = connect(harness.httpPort, '127.0.0.1')
      socket.write('POST /v1/logs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20, 0x20), Buffer.from('\r\n')])
      for (let i = 0; i < 5; i++) socket.write(chunk)
      let text = ''
      socket.on('data', data => (text += data))
      while (!text.endsWith('}')) await new Promise(setImmediate)
      socket.destroy()
      expect(text).to.match(/^HTTP\/1\.1 413 [\s\S]*expected at most \d+ bytes \(MAX_REQUEST_BYTES\), saw more"/)
    })
  })

  it('stop: what is under way is answered, what comes after is refused with 503', async () => {
    const release = harness.bus.hold()
    const underWay = harness.post(buildJson(ONE))
    while (!isHeld(harness)) await new Promise(setImmediate)
    const stopped = harness.collector.stop()
    const [late, health] = await Promise.all([harness.post(buildJson(ONE)), fetch(harness.healthUrl)])
    expect([late.status, late.headers.has('retry-after'), health.status]).to.deep.equal([503, true, 503])
    release()
    expect((await underWay).status).to.equal(200)
    await stopped
    expect(await harness.post(buildJson(ONE)).catch(() => 'closed')).to.equal('closed')
  })
})

/** Whether a request has reached the bus and waits there. */
function isHeld({ bus }: Harness): boolean {
  return bus.waitingSends > 0
}

async function metric({ healthUrl }: Harness, name: string): Promise<number> {
  const text = await (await fetch(`${healthUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1])
}
