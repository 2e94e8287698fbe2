import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { folderOf, openIndex, withDirectory } from '../testing/temporary-index.ts'

const create = (id: string, source: object) => ({ action: 'create' as const, id, source: Buffer.from(JSON.stringify(source)) })
const NO_DYNAMIC = { dynamic: false, properties: { timestamp: { type: 'date' }, t: { type: 'text' } } }
const LONG = 'x'.repeat(40_000)

describe('a mapping that is put over documents', () => {
  it('never meets documents that it would refuse: neither when they are replayed nor when they are merged', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, NO_DYNAMIC)
      for (let k = 0; k < 10; k++) {
        await index.apply([create(`text-${k}`, { x: 'abc', t: `word ${LONG}` }), create(`number-${k}`, { x: k })])
        if (k > 0) await index.seal()
        else await index.putMapping({ x: { type: 'long' }, t: { type: 'text', fields: { raw: { type: 'keyword' } } } })
        if (k === 0) await index.apply([create('refused', { x: 'abc' })])
      }
      await index.maintain()
      expect(index.segments().length).to.be.below(10)
      await index.close()
      const again = await openIndex(dir, NO_DYNAMIC)
      expect(again.docCount).to.equal(11)
      expect(again.get('text-0')).to.not.equal(undefined)
      const found = again.segments().flatMap(segment => [...segment.postings('x', '0')!].map(doc => segment.id(doc)))
      expect(found).to.deep.equal(['number-0'])
      await again.close()
    }))

  it('seals nothing when it holds nothing new', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, NO_DYNAMIC)
      for (let k = 0; k < 5; k++) {
        await index.apply([create(String(k), { t: 'word' })])
        await index.putMapping({ t: { type: 'text' } })
      }
      expect(index.segments()).to.have.length(1)
      await index.close()
    }))

  it('does not keep an index from opening that was left with such documents unsealed', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, NO_DYNAMIC)
      await index.apply([create('a', { x: 'abc', y: { z: [1, 'two', 3] }, t: LONG }), create('b', { x: 5, t: 'short word' })])
      await index.close()
      const [state] = readdirSync(folderOf(dir)).filter(name => name === 'index.json')
      const path = join(dir, 'index', state!)
      // As a version wrote it that kept no list of segments.
      const { segments: _segments, crc32: _crc32, ...stored } = JSON.parse(readFileSync(path, 'utf8'))
      stored.mappings.properties = {
        ...stored.mappings.properties,
        x: { type: 'long' },
        y: { properties: { z: { type: 'long' } } },
        t: { type: 'text', fields: { raw: { type: 'keyword' } } },
      }
      writeFileSync(path, JSON.stringify(stored))
      const again = await openIndex(dir, NO_DYNAMIC)
      const ids = (field: string, term: string) =>
        again.segments().flatMap(segment => [...segment.postings(field, term)!].map(doc => segment.id(doc)))
      expect(again.docCount).to.equal(2)
      expect(ids('x', '5')).to.deep.equal(['b'])
      expect(ids('t', 'word')).to.deep.equal(['b'])
      expect(ids('t.raw', 'short word')).to.deep.equal(['b'])
      expect(JSON.parse(Buffer.from(again.get('a')!.source).toString()).x).to.equal('abc')
      await again.close()
    }))
})

describe('a segment whose end is damaged', () => {
  const damagedIndex = async (dir: string, commits: number): Promise<string> => {
    const index = await openIndex(dir, NO_DYNAMIC)
    for (let k = 0; k < commits; k++) await index.apply(Array.from({ length: 200 / commits }, (_, n) => create(`${k} ${n}`, { n })))
    await index.seal()
    await index.apply([{ action: 'delete', id: '0 0' }])
    await index.seal()
    await index.close()
    const path = join(dir, 'index', '00000001.seg')
    const bytes = readFileSync(path)
    bytes[bytes.length - 1]! ^= 0xff
    writeFileSync(path, bytes)
    return path
  }

  for (const [what, commits] of [
    ['', 1],
    [' where it was written anew', 200],
  ] as const)
    it(`is put together again from its commits, without what was deleted${what}`, () =>
      withDirectory(async dir => {
        await damagedIndex(dir, commits)
        const index = await openIndex(dir, NO_DYNAMIC)
        expect(index.docCount).to.equal(199)
        await index.close()
      }))
})

describe('documents by their ids, without the table of ids', () => {
  it('are found wherever they are: sealed, not sealed, written anew, deleted, unknown', () =>
    withDirectory(async dir => {
      const uuid = (n: number) => `${String(n).padStart(8, '0')}-0000-5000-a000-000000000000`
      const index = await openIndex(dir, NO_DYNAMIC)
      for (let part = 0; part < 3; part++) {
        await index.apply(Array.from({ length: 300 }, (_, k) => create(uuid(300 * part + k), { n: 300 * part + k })))
        await index.apply([create(`plain ${part}`, { n: -part })])
        await index.apply([
          { action: 'update', id: uuid(7), partial: Buffer.from(`{"part":${part}}`) },
          { action: 'delete', id: uuid(8 + part) },
        ])
        if (part < 2) await index.seal()
      }
      await index.close()
      const again = await openIndex(dir, NO_DYNAMIC)
      const ids = [uuid(899), uuid(7), 'none', uuid(8), 'plain 1', uuid(7), uuid(10), uuid(11)]
      const check = async () => {
        const found = await again.getMany(ids, document => document)
        const shown = found.map(each => each && `${each.version} ${Buffer.from(each.source)}`)
        expect(shown).to.deep.equal([
          '1 {"n":899}',
          '4 {"n":7,"part":2}',
          undefined,
          undefined,
          '1 {"n":-1}',
          '4 {"n":7,"part":2}',
          undefined,
          '1 {"n":11}',
        ])
        const asked = again
          .segments()
          .flatMap(segment => [...segment.docsOf!(new Set(ids))].filter(doc => segment.isLive(doc)).map(doc => segment.id(doc)))
        expect(asked.sort()).to.deep.equal([uuid(7), uuid(11), uuid(899), 'plain 1'].sort())
      }
      await check()
      const conflicts = await again.apply([create(uuid(7), {}), create(uuid(8), { n: 8 }), create('plain 0', {})])
      expect(conflicts.map(each => ('error' in each ? each.error.status : each.result))).to.deep.equal([409, 'created', 409])
      await again.apply([{ action: 'delete', id: uuid(8) }])
      await check()
      await again.close()
    }))
})
