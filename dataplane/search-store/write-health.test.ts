import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { startTestStore } from './testing/test-store.ts'
import { createWriteHealth } from './write-health.ts'

describe('the writes of the search store', () => {
  const logged: string[] = []
  let nowMs = 0
  const note = (fields: object, message: string) => void logged.push(`${JSON.stringify(Object.values(fields))} ${message}`)
  const open = () => createWriteHealth({ info: note, error: note }, () => nowMs)
  beforeEach(() => {
    logged.length = 0
    nowMs = 0
  })

  it('that fail have a problem, which is told once, until the one that failed first works', () => {
    const writes = open()
    expect(writes.problem).to.equal(undefined)
    writes.failed('a', 'EIO')
    writes.failed('b', 'EIO')
    writes.wrote('b')
    expect(writes.problem).to.equal('EIO')
    writes.wrote('a')
    expect(writes.problem).to.equal(undefined)
    expect(logged).to.deep.equal([
      '["a","EIO"] the search store cannot write; it tries again with each write',
      '["a"] the search store can write again',
    ])
  })

  it('are well again where others have worked for a minute, though nobody tries the one that failed again; what fails then is told', () => {
    const writes = open()
    writes.failed('a', 'EIO')
    nowMs = 59_999
    writes.wrote('b')
    expect(writes.problem).to.equal('EIO')
    nowMs = 60_000
    expect(writes.problem).to.equal(undefined)
    writes.wrote('b')
    writes.failed('b', 'ENOSPC')
    expect(writes.problem).to.equal('ENOSPC')
    expect(logged).to.have.length(3)
  })

  it('block the indices where the directory takes no file, and say why', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'search-store-'))
    const [data, away] = [join(dir, 'data'), join(dir, 'away')]
    const store = await startTestStore({ dir: data })
    const blocks = async () => (await store.request('GET', '/_cluster/state/blocks')).body.blocks
    try {
      await store.request('PUT', '/a')
      renameSync(data, away)
      expect((await blocks()).indices.a[12].description).to.contain('ENOENT')
      renameSync(away, data)
      expect(await blocks()).to.deep.equal({})
    } finally {
      await store.stop()
      rmSync(dir, { recursive: true })
    }
  })
})
