/** `POST /api/upload` (Spec: Access patterns; Decisions 7). */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { ResourceLogs } from '../../otlp/payload.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { type DashboardFixture, startDashboardFixture, textOf } from './testing/dashboard-fixture.ts'

const MAX_BYTES = 300_000
const FILE = '{"message":"one","service":"shop","level":"error"}\n{"msg":"two"}'

describe('an upload', () => {
  let dashboard: DashboardFixture
  let clock: FakeClock
  beforeEach(async () => {
    clock = createFakeClock()
    dashboard = await startDashboardFixture({ clock, maxUploadBytes: MAX_BYTES })
  })
  afterEach(() => dashboard.stop())

  const upload = async (body: string | Uint8Array | FormData, headers: Record<string, string> = {}) => {
    const response = await fetch(`${dashboard.url}/api/upload`, { method: 'POST', body: body as RequestInit['body'] & {}, headers })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
  }
  const groups = () => dashboard.asked.flatMap(({ body }) => (JSON.parse(body) as { resourceLogs: ResourceLogs[] }).resourceLogs)
  const resources = () =>
    groups().map(({ resource }) => Object.fromEntries(resource!.attributes!.map(({ key, value }) => [key, value!.stringValue])))
  const messages = () =>
    groups().flatMap(({ scopeLogs }) => scopeLogs!.flatMap(({ logRecords }) => logRecords!.map(({ body }) => body?.stringValue)))

  const form = (bytes: Uint8Array | string, field = 'file') => {
    const data = new FormData()
    data.append('note', 'of the user')
    data.append(field, new Blob([bytes as string]), 'logs.json')
    return data
  }
  const array = '[{"message":"one","service":"shop"},\n{"msg":"two"}]'
  for (const [title, body, headers] of [
    ['NDJSON', FILE, {}],
    ['a JSON array', array, {}],
    ['NDJSON, gzip', gzipSync(FILE), {}],
    ['a JSON array, gzip by its content-encoding', gzipSync(array), { 'content-encoding': 'gzip' }],
    ['a form', form(FILE), {}],
    ['a form with gzip', form(gzipSync(array)), {}],
    ['NDJSON in UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${FILE.replaceAll('\n', '\r\n')}\r\n`, 'utf16le'), {}],
  ] as const)
    it(`takes ${title}`, async () => {
      const answer = await upload(body, headers)
      expect(answer.status).to.equal(200)
      expect(answer.body).to.deep.include({ accepted: 2, rejected: 0, errors: [] })
      expect(messages()).to.deep.equal(['one', 'two'])
      expect(resources()).to.deep.equal([
        { 'service.name': 'shop', batch_id: answer.body['batchId'] },
        { batch_id: answer.body['batchId'] },
      ])
    })

  it('takes one JSON object', async () => {
    expect((await upload('{\n "message": "one"\n}')).body).to.deep.include({ accepted: 1, rejected: 0 })
    expect(messages()).to.deep.equal(['one'])
  })

  it("gives an entry without a time the upload's time plus its line number in nanoseconds", async () => {
    await upload('{"message":"same"}\n\n{"message":"same"}')
    const times = groups().flatMap(({ scopeLogs }) => scopeLogs![0]!.logRecords!.map(({ timeUnixNano }) => BigInt(timeUnixNano!)))
    const uploaded = BigInt(clock.nowMs()) * 1_000_000n
    expect(times).to.deep.equal([uploaded + 1n, uploaded + 3n])
  })

  it('counts lines that are no entries, and tells of at most 20', async () => {
    const { status, body } = await upload(`{"message":"one"}\n${'oops\n'.repeat(25)}`)
    expect(status).to.equal(200)
    expect(body).to.include({ accepted: 1, rejected: 25 })
    const errors = body['errors'] as { line: number; error: string }[]
    expect(errors.map(({ line }) => line)).to.deep.equal(Array.from({ length: 20 }, (_, i) => i + 2))
    expect(errors[0]!.error).to.match(/^not JSON/)
  })

  it('counts what the collector rejects', async () => {
    dashboard.answer('collector', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too large"}}')
    })
    expect((await upload(FILE)).body).to.deep.include({ accepted: 1, rejected: 1, errors: [{ line: 1, error: 'too large' }] })
  })

  it('goes in requests of at most MAX_REQUEST_BYTES, whatever its characters take', async () => {
    await dashboard.stop()
    dashboard = await startDashboardFixture({ clock, maxUploadBytes: MAX_BYTES, maxRequestBytes: 4_096 })
    const lines = Array.from({ length: 200 }, (_, i) => JSON.stringify({ message: `${i} ${'日本'.repeat(20)}`, service: `s${i % 3}` }))
    const large = JSON.stringify({ message: 'x'.repeat(4_096) })
    expect((await upload([large, ...lines].join('\n'))).body).to.deep.include({
      ...{ accepted: 200, rejected: 1 },
      errors: [
        { line: 1, error: 'expected an entry that fits a request of at most 4096 bytes as OTLP (MAX_REQUEST_BYTES), seen a larger one' },
      ],
    })
    expect(messages().length).to.equal(200)
    const sizes = dashboard.asked.map(({ body }) => Buffer.byteLength(body))
    expect(Math.max(...sizes)).to.be.within(3_000, 4_096)
  })

  it('tells of entries that are refused together', async () => {
    dashboard.answer('collector', (_request, response) => void response.writeHead(400).end('{"error":"no"}'))
    const errorOf = async (body: string) => ((await upload(body)).body['errors'] as { error: string }[])[0]!.error
    expect(await errorOf('{"message":"one"}')).to.equal('refused: no')
    expect(await errorOf(FILE)).to.equal('refused with the next entry: no')
    expect(await errorOf(`${FILE}\n{"message":"three"}`)).to.equal('refused with the next 2 entries: no')
  })

  it('belongs to the tenant of the caller', async () => {
    await upload('{"message":"one"}', { 'x-service-tenant-id': 'acme' })
    expect(resources()[0]).to.include({ tenant_id: 'acme' })
    expect(await upload(FILE, { 'x-service-tenant-id': 'Not One' })).to.include({ status: 400 })
  })

  for (const [title, body] of [
    ['nothing', ''],
    ['blanks', ' \n\n'],
    ['an empty list', '[]'],
    ['gzip of nothing', gzipSync('')],
  ] as const)
    it(`of ${title} is answered 400`, async () => expect(await upload(body)).to.include({ status: 400 }))

  it('of broken gzip is answered 400', async () => {
    const bytes = gzipSync(FILE)
    expect(await upload(bytes.subarray(0, 30))).to.include({ status: 400 })
    expect(await upload(Buffer.concat([bytes.subarray(0, 20), Buffer.from('nonsense'), bytes.subarray(28)]))).to.include({ status: 400 })
    expect(await upload(FILE, { 'content-encoding': 'gzip' })).to.include({ status: 400 })
  })

  it('of a form without a file, or one that breaks off, is answered 400', async () => {
    expect((await upload(form(FILE, 'other'))).body['error']).to.equal('file: expected a file in this field of the form, seen none')
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(await upload('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n{"message":"one"}', type)).to.include({
      status: 400,
    })
    expect(await upload('', { 'content-type': 'multipart/form-data' })).to.include({ status: 400 })
  })

  it('of another encoding or kind of form is answered 415', async () => {
    expect(await upload(FILE, { 'content-encoding': 'br' })).to.include({ status: 415 })
    expect(await upload(FILE, { 'content-type': 'multipart/mixed; boundary=x' })).to.include({ status: 415 })
  })

  it('that is too large is answered 413: as sent, and unpacked', async () => {
    const large = `{"message":"${'x'.repeat(1_000)}"}\n`.repeat(400)
    expect(await upload(large)).to.include({ status: 413 })
    const unpacked = await upload(gzipSync(large))
    expect(unpacked.status).to.equal(413)
    expect(Object.keys(unpacked.body)).to.include.members(['error', 'status'])
  })

  describe('where all eight places are taken', () => {
    const slow = () => {
      const sent = httpRequest(`${dashboard.url}/api/upload`, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })
      sent.on('error', () => undefined)
      sent.write('{"message":"slow"}\n')
      return { sent, answer: once(sent, 'response') as Promise<[IncomingMessage]> }
    }
    const eight = async () => {
      const all = Array.from({ length: 8 }, slow)
      for (let status = 200; status !== 429; ) ({ status } = await upload(FILE))
      return all
    }

    it('is refused while those that have them may be as fast as any', async () => {
      const all = await eight()
      const { status, headers } = await upload(FILE)
      expect([status, headers.get('retry-after')]).to.deep.equal([429, '5'])
      for (const { sent } of all) sent.destroy()
    })

    it('has the place of one whose caller sends next to nothing, which is told so', async () => {
      const all = await eight()
      clock.advance(10_000)
      expect(await upload(FILE)).to.include({ status: 200 })
      const [answer] = await Promise.race(all.map(each => each.answer))
      expect(answer.statusCode).to.equal(429)
      expect(JSON.parse(await textOf(answer)).error).to.include('came too slowly while another one needed its place')
      for (const { sent } of all) sent.destroy()
    })

    it('takes no place of one that waits for the collector', async () => {
      const held: (() => void)[] = []
      dashboard.answer('collector', (_request, response) => {
        held.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}'))
      })
      const all = Array.from({ length: 8 }, () => upload(FILE))
      for (; held.length < 8; ) await new Promise(setImmediate)
      clock.advance(60_000)
      expect(await upload(FILE)).to.include({ status: 429 })
      for (const release of held) release()
      for (const answer of await Promise.all(all)) expect(answer).to.include({ status: 200 })
    })
  })

  it('of unknown length that is too large gets its answer while it is being sent', async () => {
    const sent = httpRequest(`${dashboard.url}/api/upload`, { method: 'POST' })
    sent.on('error', () => undefined)
    const line = Buffer.from(`{"message":"${'x'.repeat(1_000)}"}\n`.repeat(50))
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    for (let i = 0; i < 20; i++) sent.write(line)
    const [answer] = await answered
    expect(answer.statusCode).to.equal(413)
    expect(JSON.parse(await textOf(answer))).to.include({ status: 413 })
    sent.destroy()
  })

  it('waits for a collector that is busy, as long as it says', async () => {
    let asked = 0
    const busy = Promise.withResolvers<void>()
    dashboard.answer('collector', async (request, response) => {
      await textOf(request)
      if (++asked > 1) return void response.end('{"partialSuccess":{}}')
      response.writeHead(429, { 'retry-after': '7' }).end('{"error":"busy"}')
      busy.resolve()
    })
    const answer = upload(FILE)
    await busy.promise
    while (clock.sleepers === 0) await new Promise(setImmediate)
    clock.advance(6_999)
    expect(asked).to.equal(1)
    clock.advance(1)
    expect((await answer).body).to.include({ accepted: 2 })
  })

  it('is answered 502 when the collector is away, and says what was taken before', async () => {
    const line = `{"message":"${'x'.repeat(100)}"}\n`
    let asked = 0
    dashboard.answer('collector', async (request, response) => {
      await textOf(request)
      if (++asked === 1) return void response.end('{"partialSuccess":{}}')
      response.destroy()
    })
    const answer = upload(line.repeat(2_000))
    const timer = setInterval(() => clock.advance(1_000), 5)
    const { status, body } = await answer
    clearInterval(timer)
    expect(status).to.equal(502)
    expect(body['error']).to.match(/^the upload could not be forwarded to the collector/)
    expect(body).to.include({ status: 502, accepted: 1_000, rejected: 0 })
  })

  it('is POST, without a query', async () => {
    const get = await fetch(`${dashboard.url}/api/upload`)
    expect(get.status).to.equal(405)
    expect(get.headers.get('allow')).to.equal('POST')
    expect((await fetch(`${dashboard.url}/api/upload?a=1`, { method: 'POST', body: FILE })).status).to.equal(400)
  })

  it('of another site is refused, and nothing of it is sent', async () => {
    expect(await upload(FILE, { origin: 'https://elsewhere.example' })).to.include({ status: 403 })
    expect(dashboard.asked).to.deep.equal([])
  })
})
