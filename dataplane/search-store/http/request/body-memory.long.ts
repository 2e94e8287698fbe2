import { connect, type Socket } from 'node:net'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { untilTrue } from '../../../testing/eventually.ts'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

const MIB = 1024 * 1024
const LINES = `{"index":{}}\n{"a":"${'x'.repeat(1000)}"}\n`

/** A bulk of about so many bytes. */
const bulkOf = (bytes: number) => LINES.repeat(Math.floor(bytes / LINES.length))

describe('bodies that are held', () => {
  let store: TestStore
  const sockets: Socket[] = []

  beforeEach(async () => {
    store = await startTestStore({ maxBulkBytes: MIB })
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await store.stop()
    expect(store.logged).to.deep.equal([])
  })

  /** Sends a bulk in chunks and leaves it without its end. */
  async function unfinished(bytes: number): Promise<{ readonly socket: Socket; answer(): string }> {
    const socket = connect(Number(new URL(store.url).port), '127.0.0.1')
    sockets.push(socket)
    let answer = ''
    socket.on('data', data => {
      answer += data
    })
    socket.on('error', () => undefined)
    const body = bulkOf(bytes)
    socket.write(
      'POST /things/_bulk?filter_path=errors HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    await new Promise(sent => socket.write(`${body.length.toString(16)}\r\n${body}\r\n`, sent))
    return { socket, answer: () => answer }
  }

  it('count from their first byte: what finds no room is refused at once, and others go on', async () => {
    const held = await Promise.all([1, 2].map(() => unfinished(0.9 * MIB)))
    let refused: Awaited<ReturnType<typeof unfinished>> | undefined
    for (let more = 0; more < 5; more++) {
      const next = await unfinished(0.9 * MIB)
      await untilTrue(() => next.answer().includes('circuit_breaking_exception'))
      expect(next.answer())
        .to.match(/^HTTP\/1.1 429 /)
        .and.to.match(/retry-after: 1\r\n/)
      refused = next
      next.socket.destroy()
    }
    expect(refused).to.not.equal(undefined)
    expect((await store.request('POST', '/things/_bulk?filter_path=errors', bulkOf(0.9 * MIB))).status).to.equal(429)
    expect((await store.request('GET', '/health')).status).to.equal(200)
    expect((await store.request('POST', '/_search', { query: { match_all: {} } })).status).to.equal(200)
    for (const { socket, answer } of held) {
      socket.write('0\r\n\r\n')
      await untilTrue(() => answer() !== '')
      expect(answer()).to.match(/^HTTP\/1.1 200 /)
      socket.destroy()
    }
    expect((await store.request('POST', '/things/_bulk?filter_path=errors', bulkOf(0.9 * MIB))).status).to.equal(200)
  })

  it('give their memory back when the client goes before the end', async () => {
    for (let round = 0; round < 3; round++) {
      const held = await Promise.all([1, 2, 3].map(() => unfinished(0.9 * MIB)))
      for (const { socket } of held) socket.destroy()
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    expect((await store.request('POST', '/things/_bulk?filter_path=errors', bulkOf(0.9 * MIB))).status).to.equal(200)
  })

  it('count as what they unpack to', async () => {
    const bomb = gzipSync(' '.repeat(256 * MIB))
    const packed = [...Array(20)].map(() => store.request('POST', '/_bulk', bomb, { 'content-encoding': 'gzip' }))
    for (const { status } of await Promise.all(packed)) expect(status).to.be.oneOf([413, 429])
    const query = await store.request('POST', '/_search', gzipSync(' '.repeat(8 * MIB)), { 'content-encoding': 'gzip' })
    expect(query.status).to.equal(400)
    const body = Buffer.from(bulkOf(0.9 * MIB))
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(body)],
      ['zstd', zstdCompressSync(body)],
    ] as const)
      expect((await store.request('POST', '/things/_bulk?filter_path=errors', bytes, { 'content-encoding': encoding })).status).to.equal(
        200,
      )
  })

  it('are refused where they hold more operations than are worth one request', async () => {
    const large = await startTestStore()
    const answer = await large.request('POST', '/_bulk', '{"delete":{"_index":"a","_id":"1"}}\n'.repeat(250_001))
    expect(answer.status).to.equal(413)
    await large.stop()
  })
})
