import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ServiceCounts } from './overview-data.ts'
import { orderServices, type ServiceOrder } from './service-order.ts'

const of = (service: string, records: number, errors: number, recordsBefore?: number): ServiceCounts => ({
  ...{ service, records, errors, errorShare: records === 0 ? 0 : errors / records, recordsBefore, errorsBefore: undefined },
})
const first = (services: readonly ServiceCounts[], order: ServiceOrder) => orderServices(services, order)[0]?.service

describe('the order of services', () => {
  const single = Array.from({ length: 9_000 }, (_, i) => of(`single-${i}`, 1, 1, 1))
  const services = [
    ...single,
    of('busy', 100_000, 1_000, 100_000),
    of('broken', 90, 90, 90),
    of('noisy', 900_000, 0, 800_000),
    of('grown', 50_000, 0, 1_000),
    of('silent', 0, 0, 70_000),
    of('uncounted', 10, 0),
  ]

  it('has what fails whole, and what fails most in number, before 9,000 services whose single record is an error', () => {
    expect(
      orderServices(services, 'worst')
        .slice(0, 2)
        .map(({ service }) => service),
    ).to.deep.equal(['broken', 'busy'])
  })

  it('is by errors, by records, or by change, if so chosen', () => {
    expect(first(services, 'errors')).to.equal('busy')
    expect(first(services, 'records')).to.equal('noisy')
    expect(first(services, 'change')).to.equal('silent')
  })

  it('is the same at each answer where services are alike', () => {
    expect(orderServices(services, 'worst')).to.deep.equal(orderServices(services.toReversed(), 'worst'))
  })
})
