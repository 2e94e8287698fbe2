import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createUuid5, hashUuid5, namespaceBytes, URL_NAMESPACE, writeUuid5 } from './uuid5.ts'

describe('UUIDs, version 5', () => {
  it('are as RFC 9562 shows them, of names of any length and script', () => {
    const uuid = createUuid5(URL_NAMESPACE)
    expect(createUuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8')('www.example.com')).to.equal('2ed6657d-e927-568b-95e1-2665a8aea6a2')
    expect(uuid('größe')).to.equal('f79a67b0-68e1-58be-a0e0-7e057a94ba07')
    expect(uuid('x'.repeat(5_000))).to.equal('49c95a22-2bd9-5a87-b7a6-e504427ec696')
  })

  it('are the same when they are written into bytes', () => {
    const uuid = createUuid5(URL_NAMESPACE)
    for (const name of ['', 'a', 'größe', 'https://logpipeline.dev/log']) {
      const into = Buffer.alloc(40, '.')
      writeUuid5(Buffer.concat([namespaceBytes(URL_NAMESPACE), Buffer.from(name)]), into, 2)
      expect(into.toString()).to.equal(`..${uuid(name)}..`)
      hashUuid5(Buffer.concat([namespaceBytes(URL_NAMESPACE), Buffer.from(name)]), into)
      expect(into.toString('hex', 0, 16)).to.equal(uuid(name).replaceAll('-', ''))
    }
  })
})
