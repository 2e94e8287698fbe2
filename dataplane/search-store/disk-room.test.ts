import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { skipBecause } from '../testing/skip-because.ts'
import { mountSmallDisk } from '../testing/small-disk.ts'
import { diskProblem } from './disk-room.ts'
import { startTestStore } from './testing/test-store.ts'

describe('the disk of the search store', () => {
  it('has room where a batch can be written, of which nothing is left', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'search-store-'))
    expect(await diskProblem(dir)).to.equal(undefined)
    expect(readdirSync(dir)).to.deep.equal([])
    rmSync(dir, { recursive: true })
  })

  it('blocks the indices while it is full, as OpenSearch says it, until a write has found room', async function () {
    const disk = mountSmallDisk('16m')
    if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
    const store = await startTestStore({ dir: disk.path })
    try {
      await store.request('PUT', '/a')
      const blocks = async () => (await store.request('GET', '/_cluster/state/blocks')).body.blocks
      expect(await blocks()).to.deep.equal({})
      const filler = disk.fill()
      expect((await store.request('PUT', '/a/_doc/1', { text: 'refused' })).status).to.equal(429)
      const description = 'disk is full, index has read-only-allow-delete block'
      expect(await blocks()).to.deep.equal({ indices: { a: { 12: { description, retryable: true, levels: ['write'] } } } })
      expect((await store.request('GET', '/_cluster/state/blocks/b*')).body.blocks).to.deep.equal({})
      rmSync(filler)
      expect((await blocks()).indices.a[12].description).to.match(/^the search store cannot write to disk: /)
      expect((await store.request('PUT', '/a/_doc/1', { text: 'taken' })).status).to.equal(201)
      expect(await blocks()).to.deep.equal({})
    } finally {
      await store.stop()
      disk.remove()
    }
  })
})
