import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { runBackup, runRestore } from './index.ts'

describe('backup and restore that are interrupted', () => {
  let directory: string
  let said: string
  const at = (name: string) => join(directory, name)
  const deps = (dataDir: string) => {
    const stream = {
      write(text: string) {
        said += text
      },
    }
    return { stdout: stream, stderr: stream, clock: systemClock, environment: { DATA_DIR: dataDir } }
  }
  /** As Ctrl-C does while the command works, and for it alone: tests have listeners of their own. */
  const interrupted = async (run: () => Promise<number>) => {
    const others = new Set(process.listeners('SIGINT'))
    const running = run()
    for (const listener of process.listeners('SIGINT')) if (!others.has(listener)) listener('SIGINT')
    return await running
  }
  const listeners = () => process.listenerCount('SIGINT')

  beforeEach(() => {
    said = ''
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-interrupt-'))
    mkdirSync(at('data/bus'), { recursive: true })
    writeFileSync(at('data/encryption-key'), 'a key')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('leave nothing of a backup, in a new directory and in an empty one, and exit 130', async () => {
    const before = listeners()
    mkdirSync(at('empty'))
    for (const name of ['new', 'empty']) {
      expect(await interrupted(() => runBackup([at(name)], deps(at('data'))))).to.equal(130)
      expect(existsSync(at(name))).to.equal(name === 'empty')
    }
    expect(readdirSync(at('empty'))).to.deep.equal([])
    expect(existsSync(at('data/backup-stage'))).to.equal(false)
    expect(said).to.equal('logpipeline backup: interrupted\nlogpipeline backup: interrupted\n')
    expect(await runBackup([at('empty')], deps(at('data')))).to.equal(0)
    expect(listeners()).to.equal(before)
  })

  it('leave a restore that can be run again, and exit 130', async () => {
    expect(await runBackup([at('backup')], deps(at('data')))).to.equal(0)
    said = ''
    expect(await interrupted(() => runRestore([at('backup')], deps(at('restored'))))).to.equal(130)
    expect(said).to.equal('logpipeline restore: interrupted\n')
    expect(existsSync(at('restored/restore.unfinished'))).to.equal(true)
    expect(await runRestore([at('backup')], deps(at('restored')))).to.equal(0)
    expect(readdirSync(at('restored')))
      .to.include('encryption-key')
      .and.not.to.include('restore.unfinished')
  })
})
