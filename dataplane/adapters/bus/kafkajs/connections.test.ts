import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../clock/system-clock.ts'
import { withDefaults } from '../kafka/both-clients/kafka-config.ts'
import { createKafkajsClient, createProducer } from './client.ts'
import { createConnections } from './connections.ts'

/** Accepts connections, and answers nothing. */
describe('connections of a kafkajs client to a broker that does not answer', () => {
  const server = createServer(socket => {
    socket.on('error', () => undefined).resume()
  })
  beforeEach(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => void server.close())

  const address = () => server.address() as AddressInfo
  const settings = () =>
    withDefaults({ brokers: [`127.0.0.1:${address().port}`], topics: [], clock: systemClock, requestTimeoutMs: 60_000 })
  const nextConnection = async () => ((await once(server, 'connection')) as [Socket])[0]

  it('are closed with the client, though its requests are under way', async () => {
    const { connected, close } = createProducer(settings())
    connected().catch(() => undefined)
    const closed = once(await nextConnection(), 'close')
    await close()
    await closed
  })

  it('are closed after the time of one request, though it cannot say good-bye', async () => {
    const { kafka, close } = createKafkajsClient({ ...settings(), requestTimeoutMs: 50 })
    kafka
      .admin()
      .connect()
      .catch(() => undefined)
    const closed = once(await nextConnection(), 'close')
    await close(() => new Promise(() => undefined))
    await closed
  })

  it('are all closed, also those that the library has forgotten; no other is opened', async () => {
    const { open, close } = createConnections([])
    const target = { host: '127.0.0.1', port: address().port, ssl: undefined as never, onConnect: () => undefined }
    const sockets = [open(target), open(target)]
    const errors = sockets.map(socket => once(socket, 'error').then(() => once(socket, 'close')))
    await Promise.all(sockets.map(socket => once(socket, 'connect')))
    const ended = errors.map(error => error.catch(() => undefined))
    close()
    expect(() => open(target)).to.throw('the client is closed')
    await Promise.all(ended)
    expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([true, true])
  })
})
