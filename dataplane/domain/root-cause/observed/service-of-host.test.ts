import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFindHost } from './service-of-host.ts'

describe('service of a host', () => {
  const services = ['Payments', 'orders-db', 'redis-1']
  const find = createFindHost(services)
  for (const [host, service] of Object.entries({
    payments: 'Payments',
    'payments.shop.svc.cluster.local': 'Payments',
    'orders-db-0': 'orders-db',
    'orders-db-0.pods': 'orders-db',
    'pod-7.orders-db.shop': 'orders-db',
    'redis-1': 'redis-1',
    'payments-7d9f5c4b8d-x2v4p': 'Payments',
    'payments-x2v4p.shop': 'Payments',
    'payments-7d9f5c4b8d': 'Payments',
    'payments-7d9f5c4b8d-x2v4p_shop': 'Payments',
  }))
    it(`${host}: ${service}`, () => expect(find(host)).to.equal(services.indexOf(service)))
  for (const host of ['redis-2', 'payments-users', 'payments-api', 'example.org', '', 'orders'])
    it(`${host}: none`, () => expect(find(host)).to.equal(undefined))
})
