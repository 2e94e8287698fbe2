import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
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

  it('refuses a file that is no database', () => {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
    writeFileSync(join(directory, 'features.db'), 'not a database, and long enough to be seen as one'.repeat(50))
    expect(() => openEmbeddedOnlineStore(directory)).to.throw('not a database')
    rmSync(directory, { recursive: true })
  })
})
