import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFindCalled, createHasSystem, readCalled, readQueue } from './called-service.ts'
import { createFindHost } from './service-of-host.ts'

const SERVICES = ['orders', 'payment-service', 'orders-postgres', 'users-postgres', 'cart-valkey']
const find = createFindCalled(SERVICES, createFindHost(SERVICES))
const calledBy = (speaker: string, attributes: Readonly<Record<string, unknown>>) => {
  const called = readCalled(key => attributes[key])
  return called === undefined ? undefined : SERVICES[find(called, SERVICES.indexOf(speaker)) ?? -1]
}

describe('the other side of a call', () => {
  it('is the service of a host, of a URL or of a peer', () => {
    for (const attributes of [
      { 'server.address': 'payment-service.shop.svc.cluster.local', 'server.port': 8080 },
      { 'server.address': 'payment-service:8080' },
      { 'net.peer.name': 'payment-service' },
      { 'peer.service': 'Payment-Service' },
      { 'url.full': 'http://payment-service:8080/charge?to=orders' },
      { 'http.url': 'https://user:secret@payment-service/charge' },
    ])
      expect(calledBy('orders', attributes), JSON.stringify(attributes)).to.equal('payment-service')
  })

  it('is the one that has the name of an RPC service', () => {
    expect(calledBy('orders', { 'rpc.service': 'shop.v1.PaymentService' })).to.equal('payment-service')
    expect(calledBy('orders', { 'rpc.service': 'shop.v1.Payments' })).to.equal('payment-service')
    expect(calledBy('orders', { 'rpc.service': 'shop.v1.Paying' })).to.equal(undefined)
  })

  it('is the database of that system: the only one, or the one with the name of the speaker', () => {
    expect(calledBy('orders', { 'db.system.name': 'redis' })).to.equal('cart-valkey')
    expect(calledBy('orders', { 'db.system': 'postgresql' })).to.equal('orders-postgres')
    expect(calledBy('payment-service', { 'db.system': 'postgresql' })).to.equal(undefined)
  })

  it('is a database whose name tells no system, where none has that of the system', () => {
    const services = ['orders-service', 'orders-db', 'users-db', 'cart-redis']
    const found = createFindCalled(services, createFindHost(services))
    const of = (system: string, speaker: number) => services[found({ hosts: [], rpc: undefined, system, isStore: true }, speaker) ?? -1]
    expect([of('postgresql', 0), of('redis', 0), of('mongodb', 0), of('mysql', 3)]).to.deep.equal([
      'orders-db',
      'cart-redis',
      undefined,
      undefined,
    ])
  })

  it('is a cache or a broker whose name tells no system, where there is one alone', () => {
    const calledOf = (services: readonly string[], system: string) =>
      services[createFindCalled(services, createFindHost(services))({ hosts: [], rpc: undefined, system, isStore: true }, 0) ?? -1]
    expect(calledOf(['seats', 'seat-cache', 'broker'], 'redis')).to.equal('seat-cache')
    expect(calledOf(['seats', 'seat-cache', 'broker'], 'kafka')).to.equal('broker')
    expect(calledOf(['seats', 'user-cache', 'cart-cache', 'broker'], 'redis')).to.equal(undefined)
    expect(calledOf(['seats', 'seat-cache', 'cart-redis'], 'redis')).to.equal('cart-redis')
  })

  it('is none where a service names itself, an address or nothing, or works on a message that it took', () => {
    expect(calledBy('payment-service', { 'server.address': 'payment-service', 'db.system': 'redis' })).to.equal(undefined)
    expect(calledBy('orders', { 'server.address': '10.0.0.7', 'server.port': 8080 })).to.equal(undefined)
    expect(calledBy('orders', { 'server.address': 7 })).to.equal(undefined)
    expect(calledBy('orders', { 'server.address': 'cart-valkey', 'messaging.operation.type': 'process' })).to.equal(undefined)
  })

  it('comes with the queue of its message; prose is none', () => {
    const queueOf = (attributes: Readonly<Record<string, unknown>>) => readQueue(key => attributes[key])
    expect(queueOf({ 'messaging.destination.name': 'orders.v2' })).to.equal('orders.v2')
    expect(queueOf({ 'messaging.destination': 'orders' })).to.equal('orders')
    expect([queueOf({ 'messaging.destination.name': 'ignore the above' }), queueOf({})]).to.deep.equal([undefined, undefined])
  })

  it('may be of a system by its name, or by what it is for', () => {
    const has = createHasSystem(['orders', 'orders-db', 'cart-valkey'])
    for (const system of ['postgresql', 'mysql', 'redis', 'database']) expect(has(system), system).to.equal(true)
    for (const system of ['mongodb', 'kafka', 'memcached']) expect(has(system), system).to.equal(false)
  })
})
