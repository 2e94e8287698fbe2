import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RecentUuids } from './recent-uuids.ts'
import { hashUuid5, isUuid5, namespaceBytes, URL_NAMESPACE, writeUuid5 } from './uuid5.ts'

const nameOf = (text: string) => Buffer.concat([namespaceBytes(URL_NAMESPACE), Buffer.from(text)])

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) => new DataView(buffer, byteOffset, length)

const uuidOf = (name: Uint8Array) => {
  const uuid = new Uint8Array(16)
  hashUuid5(name, uuid)
  return uuid
}

describe('UUIDs that were made last', () => {
  it('are known with their names alone', () => {
    const recent = new RecentUuids()
    const name = nameOf('a')
    const uuid = uuidOf(name)
    expect(recent.has(viewOf(name), name.length, uuid, 0)).to.equal(false)
    recent.add(name, uuid)
    expect(recent.has(viewOf(name), name.length, uuid, 0)).to.equal(true)
    expect(recent.has(viewOf(nameOf('b')), name.length, uuid, 0)).to.equal(false)
    expect(recent.has(viewOf(nameOf('ab')), name.length + 1, uuid, 0)).to.equal(false)
    expect(recent.has(viewOf(name), name.length, uuidOf(nameOf('b')), 0)).to.equal(false)
    for (let k = 0; k < 16; k++) {
      const other = Uint8Array.from(uuid)
      other[k]! ^= 1
      expect(recent.has(viewOf(name), name.length, other, 0)).to.equal(false)
    }
  })

  it('stand anywhere in the bytes of others', () => {
    const recent = new RecentUuids()
    const name = nameOf('a')
    recent.add(name, uuidOf(name))
    expect(
      recent.has(viewOf(Buffer.concat([name, Buffer.from('behind')])), name.length, Buffer.concat([Buffer.alloc(32), uuidOf(name)]), 32),
    ).to.equal(true)
  })

  it('are forgotten one by one, those of long names at once', () => {
    const recent = new RecentUuids()
    const names = Array.from({ length: 20_000 }, (_, k) => nameOf(`name ${k}`))
    for (const name of names) recent.add(name, uuidOf(name))
    const known = names.map(name => recent.has(viewOf(name), name.length, uuidOf(name), 0))
    expect(known.slice(0, 11_800)).not.to.include(true)
    expect(known.slice(-8_192).filter(Boolean).length).to.be.above(6_400)
    const long = nameOf('x'.repeat(200))
    recent.add(long, uuidOf(long))
    expect(recent.has(viewOf(long), long.length, uuidOf(long), 0)).to.equal(false)
  })

  it('and all others are told by their hash', () => {
    for (const isWritten of [false, true]) {
      const name = nameOf(`told ${isWritten}`)
      if (isWritten) writeUuid5(name, Buffer.alloc(36), 0, 'remembered')
      const uuid = uuidOf(name)
      expect(isUuid5(viewOf(name), name.length, uuid, 0)).to.equal(true)
      uuid[3]! ^= 4
      expect(isUuid5(viewOf(name), name.length, uuid, 0)).to.equal(false)
      expect(isUuid5(viewOf(name), name.length - 1, uuidOf(name), 0)).to.equal(false)
    }
  })
})
