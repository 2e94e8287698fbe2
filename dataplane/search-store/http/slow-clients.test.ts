import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { untilTrue } from '../../testing/eventually.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { NOW_MS, startTestStore, type TestStore } from '../testing/test-store.ts'
import { MAX_HELD_ANSWER_BYTES } from './answer/held-answers.ts'
import { createRestServer } from './rest-server.ts'
import type { Deps, Route } from './route.ts'

const MIB = 1024 * 1024
const ACTION = '{"index":{}}\n'
const DOCUMENT = `{"a":"${'x'.repeat(1000)}"}\n`
/** A bulk of about so many bytes. */
const bulkOf = (bytes: number) => (ACTION + DOCUMENT).repeat(Math.floor(bytes / (ACTION.length + DOCUMENT.length)))

describe('clients of the store that are slow', () => {
  const sockets: Socket[] = []
  let close: () => Promise<void> | void = () => undefined
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await close()
  })

  async function startStore(clock = createFakeClock(NOW_MS)): Promise<TestStore> {
    const store = await startTestStore({ maxBulkBytes: MIB, clock })
    close = async () => {
      await store.stop()
      expect(store.logged).to.deep.equal([])
    }
    return store
  }

  function openSocket(port: number): Socket {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    return socket.on('error', () => undefined)
  }

  /** Sends a body without its end; gives what is answered. */
  async function begin(store: TestStore, path: string, body: string): Promise<{ answer(): string }> {
    const socket = openSocket(Number(new URL(store.url).port))
    let answer = ''
    socket.on('data', data => {
      answer += data
    })
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length + 8}\r\n\r\n`)
    await new Promise(sent => socket.write(body, sent))
    return { answer: () => answer }
  }

  it('and send their queries bit by bit leave room for the queries of others', async () => {
    const store = await startStore()
    const slow = await Promise.all(Array.from({ length: 40 }, () => begin(store, '/_search', ' '.repeat(MIB - 16))))
    await untilTrue(() => slow.filter(({ answer }) => answer().includes(' 429 ')).length >= 40 - 32)
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.request('POST', '/_search', `{"size":0${' '.repeat(2_000)}}`)))
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200))
  })

  it('and send their documents bit by bit lose their places to those that need them', async () => {
    const clock = createFakeClock(NOW_MS)
    const store = await startStore(clock)
    const slow = [await begin(store, '/things/_bulk', bulkOf(MIB - 2_048)), await begin(store, '/things/_bulk', bulkOf(MIB - 2_048))]
    const send = async (bytes: number) => (await store.request('POST', '/things/_bulk?filter_path=errors', bulkOf(bytes))).status
    for (let turn = 0; turn < 10 && (await send(0.9 * MIB)) !== 429; turn++);
    expect([await send(0.9 * MIB), await send(2_000), await send(0.1 * MIB)]).to.deep.equal([429, 200, 200])
    clock.advance(5_000)
    expect(await send(0.9 * MIB)).to.equal(200)
    await untilTrue(() => slow.some(({ answer }) => answer() !== ''))
    const [refused, ...others] = slow.map(({ answer }) => answer()).sort((a, b) => b.length - a.length)
    expect(refused)
      .to.match(/^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n/s)
      .and.to.include('came too slowly')
    expect(others).to.deep.equal([''])
  })

  it('and come again at once from one address leave room for large bodies from another', async () => {
    const store = await startTestStore({ maxBulkBytes: 4 * MIB, clock: systemClock })
    close = () => store.stop()
    let isOver = false
    let given = 0
    const port = Number(new URL(store.url).port)
    const body = bulkOf(0.5 * MIB)
    const flood = () => {
      if (isOver) return
      const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => socket.destroy())
      socket.on('close', () => {
        given++
        setTimeout(flood, 20)
      })
      socket.write(`POST /things/_bulk HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${MIB}\r\n\r\n`)
      socket.write(body)
    }
    for (let caller = 0; caller < 40; caller++) flood()
    await untilTrue(() => given > 40)
    const statuses: number[] = []
    const send = () => store.request('POST', '/things/_bulk?filter_path=errors', bulkOf(0.9 * MIB))
    for (let turn = 0; turn < 8; turn++) {
      // A client comes again after a second, as it is told.
      for (let attempt = 0, status = 429; attempt < 2 && status === 429; attempt++) {
        status = (await send()).status
        statuses.push(status)
        if (status === 429) await new Promise(resolve => setTimeout(resolve, 1_000))
      }
    }
    isOver = true
    expect(
      statuses.filter(status => status === 200),
      String(statuses),
    ).to.have.length.above(5)
  }).timeout(60_000)

  describe('in taking answers', () => {
    const LENGTH = 100_000
    const answerOf = (counted: { count: number }) => async () => {
      counted.count++
      return { status: 200, body: { text: 'x'.repeat(LENGTH) } }
    }

    async function startServer(maxHeldAnswerBytes?: number) {
      const handled = { count: 0 }
      const handle = answerOf(handled)
      const server = createRestServer({
        routes: [
          { method: 'GET', path: '/large', parameters: [], body: 'none', handle },
          { method: 'POST', path: '/written', parameters: [], body: 'documents', handle },
        ] as unknown as Route[],
        ...{ deps: { clock: createFakeClock(NOW_MS) } as unknown as Deps, maxBulkBytes: MIB, maxHeldBytes: MIB },
        ...(maxHeldAnswerBytes !== undefined && { maxHeldAnswerBytes }),
        onDamage: () => undefined,
        onError: error => expect.fail(String(error)),
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      close = () => {
        server.closeAllConnections()
        server.close()
      }
      const { port } = server.address() as AddressInfo
      const connections = () =>
        new Promise<number>((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
      return { port, handled, connections, url: `http://127.0.0.1:${port}` }
    }

    it('hold no more than there is for all of them, by many requests on one connection either', async () => {
      const { port, handled, connections } = await startServer()
      const answers = 300
      const callers = Math.ceil((2 * MAX_HELD_ANSWER_BYTES) / (answers * LENGTH))
      for (let caller = 0; caller < callers; caller++) {
        const socket = openSocket(port).pause()
        await new Promise(sent => socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(answers), sent))
      }
      await untilTrue(() => handled.count >= (callers / 2) * answers)
      for (let turn = 0; turn < 200 && (await connections()) === callers; turn++) await new Promise(resolve => setTimeout(resolve, 10))
      expect(await connections()).to.be.within(callers / 4, callers - 1)
    }).timeout(20_000)

    it('have 429 where there is no room, but never to a write, which would be done again', async () => {
      const { url, handled } = await startServer(50_000)
      const refused = await fetch(`${url}/large`, { headers: { 'accept-encoding': 'identity' } })
      expect([refused.status, refused.headers.get('retry-after'), handled.count]).to.deep.equal([429, '1', 1])
      const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
      const written = await fetch(`${url}/written`, { method: 'POST', body: '{}', headers })
      expect([written.status, (await written.text()).length > LENGTH]).to.deep.equal([200, true])
    })
  })
})
