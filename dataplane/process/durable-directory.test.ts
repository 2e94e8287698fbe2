import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { after, describe, it } from 'mocha'
import { makeDurableDirectory } from './durable-directory.ts'

describe('a durable directory', () => {
  const root = mkdtempSync(join(tmpdir(), 'durable-'))
  after(() => rmSync(root, { recursive: true }))
  const syncedFor = (path: string) => {
    const synced: string[] = []
    makeDurableDirectory(path, directory => synced.push(relative(root, directory)))
    expect(existsSync(path)).to.equal(true)
    return synced
  }

  it('has the directory synced in which each new name stands', () => {
    expect(syncedFor(join(root, 'data', 'bus', 'logs'))).to.deep.equal(['', 'data', 'data/bus'])
    expect(syncedFor(join(root, 'data', 'bus', 'output'))).to.deep.equal(['data/bus'])
  })

  it('has its own name synced also when it was there', () => {
    expect(syncedFor(join(root, 'data', 'bus'))).to.deep.equal(['data'])
  })

  it('is made with real syncs, from a relative path too', () => {
    makeDurableDirectory(relative(process.cwd(), join(root, 'a', 'b')))
    expect(existsSync(join(root, 'a', 'b'))).to.equal(true)
  })

  it('is for its user alone, and leaves its parents and what was there as they are', () => {
    const modeOf = (...names: readonly string[]) => statSync(join(root, ...names)).mode & 0o777
    mkdirSync(join(root, 'was-there'), { mode: 0o750 })
    makeDurableDirectory(join(root, 'was-there'))
    makeDurableDirectory(join(root, 'srv', 'logpipeline'))
    mkdirSync(join(root, 'usual'))
    expect(modeOf('srv', 'logpipeline')).to.equal(0o700)
    expect(modeOf('srv')).to.equal(modeOf('usual'))
    expect(modeOf('was-there')).to.equal(0o750)
  })

  it('is refused where none can be', () => {
    expect(() => makeDurableDirectory('/proc/none/of/this')).to.throw(/ENOENT/)
    expect(() => makeDurableDirectory('/dev/null')).to.throw(
      'DATA_DIR: the directory /dev/null cannot be made: something else has this name',
    )
    expect(() => makeDurableDirectory('/dev/null/below')).to.throw(/ENOTDIR/)
  })
})
