import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { publishSearchAddress } from './publish-address.ts'

describe('the address of the store, for commands', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'logpipeline-address-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))
  const file = () => join(dataDir, 'search-address')

  it('is there until the standalone stops', async () => {
    const published = publishSearchAddress('http://127.0.0.1:9200', { dataDir, clock: createFakeClock(), log: SILENT })
    expect(readFileSync(file(), 'utf8')).to.equal('http://127.0.0.1:9200\n')
    await published.stop()
    expect(existsSync(file())).to.equal(false)
  })

  it('is written later where the disk is full, and does not keep the standalone from starting', async () => {
    const clock = createFakeClock()
    let isFull = true
    const write = (path: string, text: string) => {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
      writeFileSync(path, text)
    }
    const published = publishSearchAddress('http://127.0.0.1:9200', { dataDir, clock, log: SILENT, write })
    await clock.advance(5_000)
    expect(existsSync(file())).to.equal(false)
    isFull = false
    await clock.advance(5_000)
    expect(readFileSync(file(), 'utf8')).to.equal('http://127.0.0.1:9200\n')
    await published.stop()
    expect(existsSync(file())).to.equal(false)
  })
})
