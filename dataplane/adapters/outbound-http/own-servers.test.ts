import { networkInterfaces } from 'node:os'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ownAddresses } from './own-servers.ts'

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'opensearch.logs.svc': ['10.0.0.7', '10.0.0.8'],
  localhost: ['::1', '127.0.0.1'],
}

describe('servers of the product', () => {
  const lookup = async (host: string) => (NAMES[host] ?? []).map(address => ({ address }))
  const isOwn = async (host: string, address: string, port = 9200) => (await ownAddresses([{ host, port: 9200 }], port, lookup))(address)

  for (const { host, address, own } of [
    { host: '127.0.0.1', address: '127.0.0.1', own: true },
    { host: '127.0.0.1', address: '127.8.8.8', own: true },
    { host: '127.0.0.1', address: '::ffff:127.0.0.1', own: true },
    { host: '127.0.0.1', address: '::1', own: true },
    { host: '[::1]', address: '127.0.0.1', own: true },
    { host: 'localhost', address: '127.0.0.1', own: true },
    { host: '0.0.0.0', address: '127.0.0.1', own: true },
    { host: '::', address: '127.0.0.1', own: true },
    { host: '127.0.0.1', address: '10.0.0.7', own: false },
    { host: 'opensearch.logs.svc', address: '10.0.0.8', own: true },
    { host: 'opensearch.logs.svc', address: '::ffff:10.0.0.8', own: true },
    { host: 'opensearch.logs.svc', address: '10.0.0.9', own: false },
    { host: 'opensearch.logs.svc', address: '127.0.0.1', own: false },
    { host: 'unknown.example', address: '127.0.0.1', own: false },
  ])
    it(`${host} ${own ? 'is' : 'is not'} at ${address}`, async () => expect(await isOwn(host, address)).to.equal(own))

  it('are at their ports alone', async () => expect(await isOwn('127.0.0.1', '127.0.0.1', 9201)).to.equal(false))

  it('are at every address of their machine', async () => {
    for (const { address } of Object.values(networkInterfaces()).flatMap(each => each ?? []))
      expect(await isOwn('0.0.0.0', address), address).to.equal(true)
  })
})
