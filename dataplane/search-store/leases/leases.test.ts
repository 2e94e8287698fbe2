import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createFakeClock } from '../../testing/fake-clock.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import type { ResolvedIndex } from '../catalog/resolve.ts'
import { mappingConfigOf } from '../mapping/mapping-config.ts'
import { openLogIndex } from '../storage/log-engine/log-index.ts'
import { createByteCache } from '../storage/log-engine/sealed/byte-cache.ts'
import { Leases } from './leases.ts'

describe('leases', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'leases-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  const openIndex = async (name: string) => {
    const clock = createFakeClock()
    const mapping = mappingConfigOf({ properties: { n: { type: 'long' } } })
    const storage = await openLogIndex(
      { dir: join(dir, name), name, mapping },
      { clock, cache: createByteCache(1024), newUuid: () => name },
    )
    await storage.apply([{ action: 'index', id: 'a', source: Buffer.from('{"n":1}') }])
    return {
      storage,
      resolved: [{ index: { uuid: name, storage } as unknown as CatalogIndex, filter: undefined }] satisfies ResolvedIndex<CatalogIndex>[],
    }
  }

  it('keep the files of an index that goes, until they end, or until all together keep too much', async () => {
    const leases = new Leases({ dir: join(dir, 'leases'), clock: createFakeClock(), maxPinnedBytes: 1 })
    const gone = await openIndex('gone')
    const there = await openIndex('there')
    const first = leases.open('pit', gone.resolved, 60_000)
    const second = leases.open('pit', there.resolved, 60_000)
    leases.open('pit', gone.resolved, 60_000)
    leases.freeDisk()
    expect(leases.list('pit').length, 'files that the index has, too, cost nothing').to.equal(3)
    await gone.storage.destroy()
    leases.freeDisk()
    expect(() => leases.get('pit', first.id)).to.throw('all shards failed')
    expect(leases.list('pit')).to.deep.equal([second])
    await there.storage.close()
  })

  it('begin without the files of a run before, and end with the store', async () => {
    const root = join(dir, 'leases')
    const { storage, resolved } = await openIndex('kept')
    const before = new Leases({ dir: root, clock: createFakeClock() })
    before.open('scroll', resolved, 60_000)
    writeFileSync(join(root, 'rest'), '')
    const after = new Leases({ dir: root, clock: createFakeClock() })
    expect(existsSync(root)).to.equal(false)
    after.open('scroll', resolved, 60_000)
    after.stop()
    expect(readdirSync(root)).to.deep.equal([])
    await storage.close()
  })
})
