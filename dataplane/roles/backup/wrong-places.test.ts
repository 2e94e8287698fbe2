import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { runBackup, runRestore } from './index.ts'

describe('backup and restore', () => {
  let directory: string
  let said: string
  const at = (name: string) => join(directory, name)
  const deps = (dataDir: string) => {
    const stream = { write: (text: string) => (said += text) }
    return { stdout: stream, stderr: stream, clock: systemClock, environment: { DATA_DIR: at(dataDir) } }
  }

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-places-'))
    mkdirSync(at('data/bus'), { recursive: true })
    writeFileSync(at('file'), 'mine')
    expect(await runBackup([at('backup')], deps('data'))).to.equal(0)
  })
  beforeEach(() => (said = ''))
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('refuse a file in the place of a directory, and leave it', async () => {
    expect(await runBackup([at('file')], deps('data'))).to.equal(1)
    expect(await runRestore([at('backup')], deps('file'))).to.equal(1)
    expect(said).to.equal(
      `logpipeline backup: expected an empty directory for the backup, or none, seen ${at('file')}\n` +
        `logpipeline restore: expected an empty directory for DATA_DIR, or none, seen ${at('file')}\n`,
    )
    expect(readFileSync(at('file'), 'utf8')).to.equal('mine')
  })

  it('say which directory cannot be made: that of the backup is no setting', async () => {
    expect(await runBackup(['/proc/none/backup'], deps('data'))).to.equal(1)
    expect(said).to.match(/^logpipeline backup: the directory \/proc\/none\/backup cannot be made: ENOENT/)
  })

  it('restore nothing into the backup itself, which would become part of a later copy of it', async () => {
    expect(await runRestore([at('backup')], deps('backup/new'))).to.equal(1)
    expect(said).to.equal(`logpipeline restore: DATA_DIR: expected a directory outside the backup, seen ${at('backup/new')}\n`)
    expect(existsSync(at('backup/new'))).to.equal(false)
    expect(readdirSync(at('backup'))).to.include('backup.json')
  })
})
