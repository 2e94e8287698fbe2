import { expect } from 'chai'
import { describe, it } from 'mocha'
import { startTestStore } from '../testing/test-store.ts'
import { parseAddress, parseAddressBlock } from './ip-address.ts'

describe('IP addresses', () => {
  it('are numbers of 128 bits, in any spelling', () => {
    expect(parseAddress('1.2.3.4')).to.equal(0xffff01020304n)
    expect(parseAddress('::ffff:1.2.3.4')).to.equal(0xffff01020304n)
    expect(parseAddress('::')).to.equal(0n)
    expect(parseAddress('2001:DB8::1')).to.equal(0x20010db8000000000000000000000001n)
    expect(parseAddress('2001:db8:0:0:0:0:0:1')).to.equal(0x20010db8000000000000000000000001n)
    for (const text of ['', '1.2.3', '1.2.3.256', '01.2.3.4', 'fe80::1%eth0', ':::', 'host'])
      expect(parseAddress(text), text).to.equal(undefined)
  })

  it('come in blocks', () => {
    expect(parseAddressBlock('10.1.2.3/8')).to.deep.equal([0xffff0a000000n, 0xffff0affffffn])
    expect(parseAddressBlock('::/0')).to.deep.equal([0n, (1n << 128n) - 1n])
    for (const text of ['10.0.0.0/33', '10.0.0.0/', '/8', '10.0.0.0/8/8', '::/129', '10.0.0.0'])
      expect(parseAddressBlock(text), text).to.equal(undefined)
  })

  for (const index of ['hosts', 'service-logs-2026.11.23'])
    it(`are found by address, block and range in ${index}, and nothing else is taken`, async () => {
      const store = await startTestStore()
      try {
        const by = { type: 'ip', fields: { text: { type: 'keyword' } } }
        await store.request('PUT', `/${index}`, {
          mappings: { properties: { by, name: { type: 'keyword', fields: { ip: { type: 'ip' } } } } },
        })
        const addresses = ['10.0.0.9', '10.0.0.10', '10.200.0.1', '192.168.0.1', '2001:DB8::1', '::1']
        for (const [at, address] of addresses.entries())
          expect((await store.request('PUT', `/${index}/_doc/${at}?refresh=true`, { by: address })).status, address).to.equal(201)
        for (const body of [{ by: '10.0.0.256' }, { by: 7 }, { by: ['10.0.0.1', 'x'] }, { name: 'x' }]) {
          const { status, text } = await store.request('PUT', `/${index}/_doc/bad`, body)
          expect([status, text.includes('is not an IP string literal')], text).to.deep.equal([400, true])
        }
        const found = async (query: object) => {
          const { body } = await store.request('POST', `/${index}/_search`, { query, size: 20 })
          return (body.hits.hits as { _id: string }[]).map(({ _id }) => addresses[Number(_id)]).sort()
        }
        expect(await found({ term: { by: '10.0.0.0/8' } })).to.deep.equal(['10.0.0.10', '10.0.0.9', '10.200.0.1'])
        expect(await found({ terms: { by: ['10.0.0.0/24', '::1'] } })).to.deep.equal(['10.0.0.10', '10.0.0.9', '::1'])
        expect(await found({ match: { by: '2001:db8:0::1' } })).to.deep.equal(['2001:DB8::1'])
        expect(await found({ range: { by: { gt: '10.0.0.9', lte: '192.168.0.1' } } })).to.deep.equal([
          '10.0.0.10',
          '10.200.0.1',
          '192.168.0.1',
        ])
        expect(await found({ range: { by: { gte: '192.168.0.1' } } })).to.deep.equal(['192.168.0.1', '2001:DB8::1'])
        expect(await found({ query_string: { query: 'by:"10.0.0.0/24"' } })).to.deep.equal(['10.0.0.10', '10.0.0.9'])
        expect(await found({ prefix: { 'by.text': '10.' } })).to.deep.equal(['10.0.0.10', '10.0.0.9', '10.200.0.1'])
        const refused = [
          { query: { term: { by: 'x' } } },
          { query: { prefix: { by: '10.' } } },
          { query: { range: { by: { gt: 'x' } } } },
          { sort: ['by'] },
        ]
        for (const body of refused)
          expect((await store.request('POST', `/${index}/_search`, body)).status, JSON.stringify(body)).to.equal(400)
      } finally {
        await store.stop()
      }
    })
})
