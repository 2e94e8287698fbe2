import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KnownOrigins, MAX_BYTES_OF_ALL, MAX_ORIGIN_BYTES } from './known-origins.ts'

const viewOf = (text: string) => {
  const bytes = Uint8Array.from(Buffer.from(text))
  return new DataView(bytes.buffer)
}
const wireOf = (number: number, length = 400) => viewOf(`pod-${number}`.padEnd(length, '.'))
const jsonOf = (number: number, length = 600) => Buffer.from(`{"pod":${number}}`.padEnd(length))

function addAll(origins: KnownOrigins, count: number, wireLength?: number, jsonLength?: number) {
  for (let i = 0; i < count; i++) {
    const wire = wireOf(i, wireLength)
    origins.add(wire, 0, wire.byteLength, { json: jsonOf(i, jsonLength), service: `service-${i}`, tenantId: undefined })
  }
}

describe('known origins', () => {
  it('thousands of senders are known, each by all of its bytes', () => {
    const origins = new KnownOrigins()
    addAll(origins, 20_000, 350, 550)
    for (let i = 0; i < 20_000; i++) {
      const wire = wireOf(i, 350)
      const known = origins.find(wire, 0, wire.byteLength)
      expect(known?.service).to.equal(`service-${i}`)
      expect(Buffer.from(known!.json).equals(jsonOf(i, 550))).to.equal(true)
    }
    expect(origins.find(wireOf(1, 351), 0, 351)).to.equal(undefined)
    expect(origins.find(wireOf(20_000, 350), 0, 350)).to.equal(undefined)
  })

  it('the same bytes of two owners are two origins, and another one without an owner', () => {
    const origins = new KnownOrigins()
    const wire = wireOf(0)
    for (const [number, owner] of ['acme', 'globex', undefined].entries())
      origins.add(wire, 0, wire.byteLength, { json: jsonOf(number), service: 'cart', tenantId: owner }, owner)
    const found = ['acme', 'globex', undefined].map(owner => origins.find(wire, 0, wire.byteLength, owner))
    expect(found.map(origin => origin?.tenantId)).to.deep.equal(['acme', 'globex', undefined])
    expect(found.map(origin => JSON.parse(Buffer.from(origin!.json).toString()).pod)).to.deep.equal([0, 1, 2])
    expect(origins.find(wire, 0, wire.byteLength, 'hooli')).to.equal(undefined)
  })

  it('bytes of a longer text are found at their place', () => {
    const origins = new KnownOrigins()
    addAll(origins, 3)
    expect(origins.find(viewOf(`before${'pod-2'.padEnd(400, '.')}behind`), 6, 406)?.service).to.equal('service-2')
  })

  it('the oldest are forgotten where all take too much memory', () => {
    const origins = new KnownOrigins()
    const count = Math.ceil(MAX_BYTES_OF_ALL / 2_000)
    addAll(origins, count, 1_000, 1_000)
    expect(origins.find(wireOf(0, 1_000), 0, 1_000)).to.equal(undefined)
    expect(origins.find(wireOf(count - 1, 1_000), 0, 1_000)?.service).to.equal(`service-${count - 1}`)
  })

  it('a longer one is not remembered', () => {
    const origins = new KnownOrigins()
    addAll(origins, 1, MAX_ORIGIN_BYTES + 1)
    expect(origins.find(wireOf(0, MAX_ORIGIN_BYTES + 1), 0, MAX_ORIGIN_BYTES + 1)).to.equal(undefined)
    addAll(origins, 1, 400, MAX_ORIGIN_BYTES + 1)
    expect(origins.find(wireOf(0), 0, 400)).to.equal(undefined)
  })
})
