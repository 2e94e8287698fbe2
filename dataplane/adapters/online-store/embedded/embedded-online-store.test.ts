import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { OnlineStoreUnavailable } from '../../../ports/online-store.ts'
import { skipBecause } from '../../../testing/skip-because.ts'
import { mountSmallDisk } from '../../../testing/small-disk.ts'
import { describeOnlineStore } from '../testing/online-store-suite.ts'
import { openEmbeddedOnlineStore } from './embedded-online-store.ts'

describeOnlineStore('embedded', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
  return { open: async () => openEmbeddedOnlineStore(join(directory, 'made')), stop: async () => rmSync(directory, { recursive: true }) }
})

describe('the embedded online store', () => {
  it('holds what was written after it was opened again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
    try {
      const row = { tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 0.3 }, eventMs: 1, writtenMs: 2 }
      const first = openEmbeddedOnlineStore(directory)
      await first.write([row])
      await first.close()
      const second = openEmbeddedOnlineStore(directory)
      expect(await second.read([row])).to.deep.equal([row])
      await second.close()
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('is away while the disk is full, also where it was full at the start, and there once it has room', async function () {
    const disk = mountSmallDisk('400k')
    if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
    try {
      const filler = disk.fill()
      const store = openEmbeddedOnlineStore(disk.path)
      const row = { tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 0.3 }, eventMs: 1, writtenMs: 2 }
      expect(await store.read([row]).catch((error: unknown) => error)).to.be.instanceOf(OnlineStoreUnavailable)
      rmSync(filler)
      await store.write([row])
      expect(await store.read([row])).to.deep.equal([row])
      await store.close()
      expect(await store.read([row]).catch((error: unknown) => error)).to.be.instanceOf(OnlineStoreUnavailable)
    } finally {
      disk.remove()
    }
  })

  it('refuses a file that is no database', () => {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
    writeFileSync(join(directory, 'features.db'), 'not a database, and long enough to be seen as one'.repeat(50))
    expect(() => openEmbeddedOnlineStore(directory)).to.throw('not a database')
    rmSync(directory, { recursive: true })
  })

  it('names a file that is damaged, and says what to do', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
    const path = join(directory, 'features.db')
    const store = openEmbeddedOnlineStore(directory)
    await store.write([{ tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 0.3 }, eventMs: 1, writtenMs: 2 }])
    await store.close()
    writeFileSync(path, readFileSync(path).fill(0, 100, 300))
    expect(() => openEmbeddedOnlineStore(directory))
      .to.throw(`cannot open ${path}: database disk image is malformed`)
      .with.property('message')
      .that.contains('feature_compute')
    rmSync(directory, { recursive: true })
  })
})
