import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readCalled } from '../observed/called-service.ts'
import type { Kind } from '../observed/observed-system.ts'
import { readErrors } from './error-reader.ts'

const SERVICES = ['web', 'orders', 'orders-db', 'coredns']
let id = 0
const kind = (service: string, ...texts: readonly string[]): Kind => {
  const [pattern = ''] = texts
  return {
    id: id++,
    service: SERVICES.indexOf(service),
    pattern,
    patternId: pattern,
    errorTexts: [...texts],
    called: [],
    queues: new Set(),
    isError: true,
    isDebug: false,
    isWarning: false,
  }
}
const namedBy = (...kinds: readonly Kind[]) => {
  const { named } = readErrors(SERVICES, kinds)
  return kinds.map(each => SERVICES[named(each) ?? -1])
}

describe('what errors tell', () => {
  it('the service behind a host, and the one whose error they repeat', () => {
    expect(namedBy(kind('orders', 'dial tcp: connect refused (orders-db-0:5432)'))).to.deep.equal(['orders-db'])
    expect(namedBy(kind('orders-db', 'deadlock detected'), kind('orders', 'not saved: deadlock detected'))).to.deep.equal([
      undefined,
      'orders-db',
    ])
  })

  it('the service that attributes name, where the message says only that something failed', () => {
    const calls = (text: string, attributes: Readonly<Record<string, string>>) => {
      const called = readCalled(key => attributes[key])!
      const said = { ...kind('web', text), called: [called] }
      const reader = readErrors(SERVICES, [said])
      return [SERVICES[reader.named(said) ?? -1], reader.senseOf(said)]
    }
    expect(calls('request failed', { 'server.address': 'orders.shop.svc' })).to.deep.equal(['orders', 'callee'])
    expect(calls('NullPointerException', { 'server.address': 'orders' })).to.deep.equal([undefined, 'own'])
    expect(
      calls('OOM command not allowed when used memory > maxmemory', { 'db.system': 'redis', 'server.address': 'orders-db' }),
    ).to.deep.equal(['orders-db', 'callee'])
    expect(calls('connect EMFILE: too many open files', { 'db.system': 'redis', 'server.address': 'orders-db' })).to.deep.equal([
      undefined,
      'own',
    ])
  })

  it('the database of the client that complains, and of no other complaint', () => {
    expect(namedBy(kind('orders', 'PSQLException: ERROR: cannot execute INSERT in a read-only transaction'))).to.deep.equal(['orders-db'])
    expect(namedBy(kind('orders', 'PSQLException: ERROR: canceling statement due to statement timeout'))).to.deep.equal(['orders-db'])
    expect(namedBy(kind('orders', 'PSQLException: ERROR: column total does not exist'))).to.deep.equal([undefined])
  })

  it('no other service, where attributes name a site of others', () => {
    const isRemote = (host: string) => {
      const said = { ...kind('web', 'unexpected status 503'), called: [readCalled(key => ({ 'server.address': host })[key])!] }
      return readErrors(SERVICES, [said]).isRemote(said)
    }
    expect(isRemote('api.maps.example')).to.equal(false)
    for (const host of ['maps', 'maps.shop.svc']) expect(isRemote(host), host).to.equal(true)
  })

  it('nobody, where they hold no more than the words of any error', () => {
    expect(namedBy(kind('web', 'request failed'), kind('orders', 'request failed: connection refused'))).to.deep.equal([
      undefined,
      undefined,
    ])
  })

  it('the reason that is quoted, and no other quoted words', () => {
    const said = kind('web', 'cart of "Ada" lost: "OOM command not allowed when used memory > maxmemory"')
    expect(readErrors(SERVICES, [said]).textOf(said)).to.equal('cart of <*> lost: OOM command not allowed when used memory > maxmemory')
  })

  it('the status of an answer, which is no number among others', () => {
    const textOf = (text: string) => {
      const said = kind('web', text)
      return readErrors(SERVICES, [said]).textOf(said)
    }
    expect(textOf('lookup of 429 failed: 429 {"error":"quota"}')).to.equal('lookup of <*> failed: 429 {"error":<*>}')
    expect(textOf('POST /v2/orders/429 -> 503 in 429 ms')).to.equal('POST /v<*>/orders/<*> -> 503 in <*> ms')
    expect(textOf('status 4290, status=500')).to.equal('status <*>, status=<*>')
  })

  it('the name service, where a name was not resolved', () => {
    expect(namedBy(kind('web', 'getaddrinfo ENOTFOUND orders'))).to.deep.equal(['coredns'])
  })

  it('nobody but who asked, where nothing that logs is meant by a name that was not resolved', () => {
    const said = kind('web', 'getaddrinfo ENOTFOUND bank.internal')
    const reader = readErrors(['web', 'orders'], [said])
    expect([reader.named(said), reader.isRemote(said), reader.unresolvedNameOf(said)]).to.deep.equal([undefined, false, 'bank.internal'])
  })

  it('nobody of those whose names the name service looked up', () => {
    expect(namedBy(kind('coredns', 'plugin/errors: 2 orders.shop.svc.cluster.local. A: read udp: i/o timeout'))).to.deep.equal([undefined])
    expect(namedBy(kind('coredns', 'Get "https://web:6443/api": connection refused'))).to.deep.equal(['web'])
  })

  it('the service whose certificate does not hold, where words name it', () => {
    expect(namedBy(kind('web', 'SSL handshake with orders failed: certificate has expired'))).to.deep.equal(['orders'])
    expect(namedBy(kind('orders', 'certificate has expired'))).to.deep.equal([undefined])
  })

  it('the only database, where a client tells no more than that', () => {
    expect(namedBy(kind('orders', 'error communicating with database: Connection refused (os error 111)'))).to.deep.equal(['orders-db'])
    expect(namedBy(kind('orders', 'database migration is missing'))).to.deep.equal([undefined])
  })

  it('nobody that logs, where the port of an address tells a system of which there is no service', () => {
    const waits = (text: string) => {
      const said = kind('web', text)
      return readErrors(SERVICES, [said]).waits(said)
    }
    expect(waits('connect ECONNREFUSED 10.3.4.5:6379')).to.equal('nothing')
    expect(waits('connect ECONNREFUSED 10.3.4.5:8080')).to.equal('answer')
    expect(namedBy(kind('web', 'connect ECONNREFUSED 10.3.4.5:5432'))).to.deep.equal(['orders-db'])
  })

  it('nobody, where the API of a cloud answered', () => {
    const said = kind('orders', 'An error occurred (SlowDown) when calling the PutObject operation: Please reduce your request rate.')
    expect(readErrors(SERVICES, [said]).isRemote(said)).to.equal(false)
  })

  it('no other service, where the site that did not answer is of others', () => {
    const isRemote = (text: string) => {
      const said = kind('orders', text)
      return readErrors(SERVICES, [said]).isRemote(said)
    }
    expect(isRemote('POST https://api.maps.example/lookup failed: 503 Service Unavailable')).to.equal(false)
    for (const url of ['http://maps:8080', 'http://maps.shop.svc:8080', 'https://maps.internal', 'http://orders-db.shop.example'])
      expect(isRemote(`POST ${url}/lookup failed: 503 Service Unavailable`), url).to.equal(true)
  })

  it('the workload that the platform tells of', () => {
    expect(namedBy(kind('web', 'Container orders in pod orders-7d9f5c4b8d-x2v4p was OOMKilled'))).to.deep.equal(['orders'])
    expect(namedBy(kind('web', 'Liveness probe failed for pod shop/orders-db-0: timeout'))).to.deep.equal(['orders-db'])
  })

  it('nobody else, where an error has a cause of its own or names who asked', () => {
    expect(namedBy(kind('orders', 'disk full while serving web'), kind('orders', 'bad request from web'))).to.deep.equal([
      undefined,
      undefined,
    ])
  })

  it('nobody else, where it could not even open its own end of a connection', () => {
    for (const text of [
      'Post "http://orders:8080/orders": dial tcp 10.0.4.7:8080: connect: cannot assign requested address',
      'call to orders failed: java.net.BindException: Cannot assign requested address (Address not available)',
      'connect EADDRNOTAVAIL 10.0.4.7:8080 - Local (10.0.3.2:0) while calling orders',
      'psycopg2.OperationalError: could not connect to server: Cannot assign requested address. Is it running on host "orders-db"?',
      'socket() failed (24: Too many open files) while connecting to upstream, upstream: "http://orders:8080/"',
      'Get "http://orders:8080/": dial tcp 10.0.4.7:8080: socket: too many open files',
      'connect EMFILE orders:8080',
      "HTTPConnectionPool(host='orders', port=8080): Failed to establish a new connection: [Errno 105] No buffer space available",
    ]) {
      const said = kind('web', text)
      const reader = readErrors(SERVICES, [said])
      expect([reader.named(said), reader.senseOf(said)], text).to.deep.equal([undefined, 'own'])
    }
    const answered = 'http://orders:8080/ returned 503: connect: cannot assign requested address'
    expect(namedBy(kind('web', answered), kind('web', 'orders-db:5432 said: too many open files'))).to.deep.equal(['orders', 'orders-db'])
  })

  it('the one client whose column is not there, and the database where several ask for it', () => {
    const server = kind('orders-db', 'ERROR:  column "coupon" of relation "orders" does not exist at character 41')
    const client = (service: string) =>
      kind(service, 'not stored: ERROR: column "coupon" of relation "orders" does not exist (SQLSTATE 42703)')
    expect(namedBy(server, client('orders'))).to.deep.equal(['orders', undefined])
    expect(namedBy(server, client('orders'), client('web'))).to.deep.equal([undefined, 'orders-db', 'orders-db'])
  })

  it('the one client whose rows break a rule of the data, as a job that runs twice', () => {
    for (const said of [
      'duplicate key value violates unique constraint "invoices_day_key"',
      'insert or update on table "lines" violates foreign key constraint "lines_order"',
      "Duplicate entry '7118-2026' for key 'invoices.day'",
      'E11000 duplicate key error collection: shop.invoices index: day_1',
      'UNIQUE constraint failed: invoices.day',
      'invalid input syntax for type integer: "all"',
    ]) {
      const server = kind('orders-db', `ERROR:  ${said}`)
      const client = (service: string) => kind(service, `invoice not stored: ${said}`)
      expect(namedBy(server, client('orders')), said).to.deep.equal(['orders', undefined])
      expect(namedBy(server, client('orders'), client('web')), said).to.deep.equal([undefined, 'orders-db', 'orders-db'])
    }
  })

  it('no service for which a topic or a table is named, but one that a queue may belong to', () => {
    const services = ['web', 'orders', 'mailer']
    const named = (text: string) => {
      const said = { ...kind('web', text), service: 2 }
      return services[readErrors(services, [said]).named(said) ?? -1]
    }
    for (const text of [
      'Unexpected token < in JSON, topic orders.paid, partition 3',
      'no handler, routing key: orders.paid.v2',
      'duplicate key in table orders',
      'relation "orders" is locked',
    ])
      expect(named(text), text).to.equal(undefined)
    for (const text of ['queue orders has no consumers', 'call to orders failed, topic orders.paid'])
      expect(named(text), text).to.equal('orders')
  })

  it('what they waited for, where they do not tell of whom', () => {
    const waits = (text: string) => {
      const said = kind('orders', text)
      return readErrors(SERVICES, [said]).waits(said)
    }
    for (const text of ['context deadline exceeded', 'java.net.SocketTimeoutException: Read timed out', 'no upstream answered'])
      expect(waits(text), text).to.equal('answer')
    expect(waits('timeout waiting for connection')).to.equal('connection')
    expect(waits('publish timed out after 10 s')).to.equal('connection')
    for (const text of ['order failed', 'call to orders-db: context deadline exceeded', 'getaddrinfo ENOTFOUND bank.internal'])
      expect(waits(text), text).to.equal(undefined)
    for (const text of [
      'POST https://api.maps.example/lookup failed: 503 Service Unavailable',
      'no space left on device',
      'canceling statement due to statement timeout',
    ])
      expect(waits(text), text).to.equal('nothing')
  })

  it('the one client that is not let in, and the server where several are not', () => {
    const server = kind('orders-db', 'FATAL: password authentication failed for user "ada"')
    const client = (service: string) =>
      kind(service, `connection failed: FATAL: password authentication failed for user "ada" (${service})`)
    expect(namedBy(server, client('orders'))).to.deep.equal(['orders', undefined])
    expect(namedBy(server, client('orders'), client('web'))).to.deep.equal([undefined, 'orders-db', 'orders-db'])
    expect(namedBy(server)).to.deep.equal([undefined])
  })

  it('a request began with the error that has a cause of its own, whatever the clocks', () => {
    const [vague, own] = [kind('web', 'request failed'), kind('orders', 'no space left on device')]
    const reader = readErrors(SERVICES, [vague, own])
    expect(reader.beginningOf([{ kind: vague }, { kind: own }])!.kind).to.equal(own)
    expect([reader.isRemote(vague), reader.isRemote(own)]).to.deep.equal([true, false])
    expect(readErrors(SERVICES, [vague]).isRemote(vague)).to.equal(false)
  })

  it('a name that the name service does not answer for is not blamed, and one that nobody has is', () => {
    expect(namedBy(kind('web', 'dial tcp: lookup orders on 10.96.0.10:53: i/o timeout'))).to.deep.equal(['coredns'])
    const withoutDns = readErrors(['web', 'orders'], [])
    const named = (text: string) => withoutDns.named({ ...kind('web', text), service: 0 })
    expect(named('dial tcp: lookup orders on 10.96.0.10:53: no such host')).to.equal(1)
    expect(named('dial tcp: lookup orders on 10.96.0.10:53: i/o timeout')).to.equal(undefined)
    expect(named("Failed to resolve 'orders' ([Errno -3] Temporary failure in name resolution)")).to.equal(undefined)
  })

  it('the kernel killed the service that says so itself, where it is the only one', () => {
    const kill = kind('coredns', 'Memory cgroup out of memory: Killed process 40112 (gunicorn) total-vm:1203421kB')
    const told = (service: string) => kind(service, 'Worker (pid:31) was sent SIGKILL! Perhaps out of memory?')
    expect(namedBy(kill, told('orders'))).to.deep.equal(['orders', undefined])
    expect(namedBy(kill, told('orders'), told('web'))).to.deep.equal([undefined, undefined, undefined])
  })

  it('a name service that has no answer waits for no service of the tenant', () => {
    const asked = kind('coredns', '[ERROR] plugin/errors: 2 shop.local. AAAA: read tcp 10.4.1.3:38812->10.96.0.10:53: i/o timeout')
    expect(readErrors(SERVICES, [asked]).waits(asked)).to.equal('nothing')
  })

  it('of several services that the platform restarts the kernel killed the first', () => {
    const kill = kind('coredns', 'Out of memory: Killed process 7 (java)')
    const [first, second] = ['orders', 'orders-db'].map(name => kind('coredns', `Back-off restarting failed container ${name}`))
    const at = new Map([
      [kill, 0],
      [first!, 9_000],
      [second!, 40_000],
    ])
    const killed = (times: ReadonlyMap<Kind, number>) =>
      SERVICES[readErrors(SERVICES, [kill, first!, second!], each => times.get(each)!).named(kill) ?? -1]
    expect(killed(at)).to.equal('orders')
    expect(killed(new Map([...at, [second!, 3_000]]))).to.equal('orders-db')
    expect(killed(new Map([...at, [second!, 9_500]]))).to.equal(undefined)
  })

  it('the kernel killed the service by whose name the process went, as far as it keeps names', () => {
    const killed = (process: string, services = SERVICES) => {
      const kill = kind('coredns', `Memory cgroup out of memory: Killed process 7 (${process}) total-vm:1203421kB`)
      return services[readErrors(services, [kill]).named(kill) ?? -1]
    }
    expect(killed('orders')).to.equal('orders')
    expect(killed('java')).to.equal(undefined)
    expect(killed('recommendation-', [...SERVICES, 'recommendation-engine'])).to.equal('recommendation-engine')
    expect(killed('recommendation-', [...SERVICES, 'recommendation-engine', 'recommendation-ui'])).to.equal(undefined)
    const task = kind(
      'coredns',
      'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/kubepods/burstable,task=orders,pid=7,uid=1000',
    )
    expect(SERVICES[readErrors(SERVICES, [task]).named(task) ?? -1]).to.equal('orders')
  })

  it('who does not accept the certificate of another one waits for it; who got a status of failure waits for nobody', () => {
    const waits = (text: string) => {
      const said = kind('web', text)
      return readErrors(SERVICES, [said]).waits(said)
    }
    expect(waits('Error: certificate has expired')).to.equal('answer')
    expect(waits('AxiosError: Request failed with status code 503')).to.equal('nothing')
  })

  it('a request began at the end of the chain of who names whom: who waited longest may write first', () => {
    const web = kind('web', 'POST http://orders:8080/orders: Read timed out')
    const orders = kind('orders', 'order not placed: dial tcp orders-db:5432: i/o timeout')
    const vague = kind('orders', 'request failed')
    const reader = readErrors(SERVICES, [web, orders, vague])
    expect(reader.beginningOf([{ kind: web }, { kind: orders }])!.kind).to.equal(orders)
    expect(reader.beginningOf([{ kind: web }, { kind: vague }])!.kind).to.equal(web)
    const back = kind('orders', 'call to http://web:8080/hook: Read timed out')
    expect(readErrors(SERVICES, [web, back]).beginningOf([{ kind: web }, { kind: back }])!.kind).to.equal(back)
  })
})
