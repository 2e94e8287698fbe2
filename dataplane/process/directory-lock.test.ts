import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { skipBecause } from '../testing/skip-because.ts'
import { mountSmallDisk } from '../testing/small-disk.ts'
import { DirectoryInUse, lockDirectory } from './directory-lock.ts'

const MODULE = new URL('./directory-lock.ts', import.meta.url).href

describe('directory lock', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lock-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('refuses a second holder with a clear message, and lets the next one in after the release', () => {
    const first = lockDirectory(directory)
    expect(() => lockDirectory(directory)).to.throw(DirectoryInUse, `${directory} is in use by process ${process.pid}`)
    first.release()
    first.release()
    lockDirectory(directory).release()
  })

  it('is taken by one process and refused to another; kill -9 frees it at once', async () => {
    const script = `const { lockDirectory } = await import(${JSON.stringify(MODULE)}); lockDirectory(process.argv[1]); console.log('held'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    try {
      await once(child.stdout, 'data')
      expect(() => lockDirectory(directory)).to.throw(DirectoryInUse, `process ${child.pid}`)
    } finally {
      child.kill('SIGKILL')
      await exited
    }
    lockDirectory(directory).release()
  })

  it('says of a directory on a read-only file system that it cannot be written', function () {
    const disk = mountSmallDisk('64k')
    if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
    try {
      execFileSync('mount', ['-o', 'remount,ro', disk.path])
      expect(() => lockDirectory(disk.path))
        .to.throw(`DATA_DIR: the directory ${disk.path} cannot be written`)
        .with.property('cause')
    } finally {
      disk.remove()
    }
  })

  it('does not care about a holder file that was left behind', () => {
    writeFileSync(join(directory, 'lock.holder'), '1\n')
    lockDirectory(directory).release()
  })
})
