import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type ErrorSense, readErrorWords } from './read-error-words.ts'

const SENSES: Readonly<Record<ErrorSense, readonly string[]>> = {
  own: [
    'java.lang.OutOfMemoryError: Java heap space',
    'write failed, errno 28 No space left on device',
    'sorry, too many clients already',
    'x509: certificate has expired or is not yet valid',
    'deadlock detected',
    'open /var/spool: permission denied',
    'PSQLException: FATAL: password authentication failed for user',
    'System.NullReferenceException: Object reference not set to an instance of an object.',
    'Error creating bean orders: Unsatisfied dependency expressed through field ledger',
    'MemoryError',
    'ORA-01653: unable to extend table SHOP.ORDERS',
  ],
  callee: [
    'payments unavailable',
    'POST http://payments/charge returned 500',
    'upstream request failed',
    'request failed with status code 500',
    'order not stored: DataAccessResourceFailureException: could not extend file',
    'pq: sorry, too many clients already',
    'lookup payments on 10.0.0.10:53: i/o timeout',
  ],
  vague: ['internal server error', 'request failed', 'order failed'],
  plain: [
    'connection refused: db-primary:5432',
    'fork failed: Resource temporarily unavailable',
    'Kaboom',
    '',
    'Connection is not available, timeout of the pool',
    'no charge for card 7',
    'job 7 failed\nTraceback (most recent call last):\n  File "/app/jobs.py", line 7, in run\nZeroDivisionError: division by zero',
  ],
}

describe('words of errors', () => {
  for (const [sense, texts] of Object.entries(SENSES))
    for (const text of texts) it(`${sense}: ${text}`, () => expect(readErrorWords(text).sense).to.equal(sense))

  it('name hosts with a port, of URLs, those that were looked up, and workloads', () => {
    const hosts = (text: string) => readErrorWords(text).hosts
    expect(hosts('Connection to orders-db:5432 refused')).to.deep.equal(['orders-db'])
    expect(hosts('Post "http://payments.shop.svc:8080/charge": EOF')).to.deep.equal(['payments.shop.svc'])
    expect(hosts('node 1 (kafka/10.0.0.7:9092) is not there')).to.deep.equal(['kafka'])
    expect(hosts('getaddrinfo ENOTFOUND payments')).to.deep.equal(['payments'])
    expect(hosts('dial tcp 10.0.0.7:5432: refused')).to.deep.equal([])
    expect(hosts('Back-off restarting failed container orders in pod shop/orders-7d9f5c4b8d-x2v4p')).to.deep.equal([
      'orders',
      'orders-7d9f5c4b8d-x2v4p',
    ])
  })

  it('name the sites that were called, and no page that a proxy was asked for', () => {
    const sites = (text: string) => readErrorWords(text).sites
    expect(sites('POST https://api.maps.example/lookup failed: 503 Service Unavailable')).to.deep.equal(['api.maps.example'])
    expect(sites('upstream timed out, referrer: "https://shop.example/cart"')).to.deep.equal([])
    expect(sites('Connection to orders-db:5432 refused')).to.deep.equal([])
  })

  it('without those that tell who asked', () => {
    expect(readErrorWords('failed to handle request from orders: checksum').withoutCallers).to.not.contain('orders')
    expect(readErrorWords('error response from payments').withoutCallers).to.contain('payments')
  })

  it('take a bounded time, whatever comes', () => {
    const startedMs = performance.now()
    for (const text of ['a', 'a.', '://', 'host=', ' timeout', 'request from ', 'disk full sql', 'x', 'status ', 'a:1 '])
      readErrorWords(text.repeat(100_000))
    expect(performance.now() - startedMs).to.be.below(2_000)
  })
})
