import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import type { CommandDeps } from '../command-line/command.ts'
import { version } from '../config/version.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { openEmbedded, openOnlineStore } from './backends.ts'
import { runBackup, runRestore } from './backup/index.ts'
import { noteFormat, refuseLaterFormat } from './data-format.ts'
import { runKeys } from './keys/index.ts'

const LATER = '{"format":2,"version":"7.8.9"}\n'
const REFUSED =
  /(?:DATA_DIR|the backup in) \S+: expected data of format 1, which logpipeline .+ reads, seen format 2, written by logpipeline 7\.8\.9; start 7\.8\.9 or later, or restore a backup/

describe('the form of the files in DATA_DIR', () => {
  let dataDir: string
  const path = () => join(dataDir, 'format.json')
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'logpipeline-format-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  it('is noted with the version that works there; a directory of before, and one of another version, are taken', () => {
    noteFormat(dataDir)
    expect(JSON.parse(readFileSync(path(), 'utf8'))).to.deep.equal({ format: 1, version })
    writeFileSync(path(), '{"format":1,"version":"0.0.1"}')
    noteFormat(dataDir)
    expect(JSON.parse(readFileSync(path(), 'utf8'))).to.deep.equal({ format: 1, version })
    expect(readdirSync(dataDir)).to.deep.equal(['format.json'])
    expect(() => refuseLaterFormat(join(dataDir, 'nowhere'))).not.to.throw()
  })

  it('of a later version is refused with what to do, and nothing is changed', () => {
    writeFileSync(path(), LATER)
    for (const open of [noteFormat, refuseLaterFormat]) expect(() => open(dataDir)).to.throw(REFUSED)
    expect(readFileSync(path(), 'utf8')).to.equal(LATER)
    expect(readdirSync(dataDir)).to.deep.equal(['format.json'])
  })

  it('that cannot be read is refused with the way out', () => {
    for (const text of ['', 'no json', '{"format":"1","version":"0.1.0"}', '{"format":0,"version":"0.1.0"}', '{"format":1}']) {
      writeFileSync(path(), text)
      expect(() => noteFormat(dataDir), text).to.throw(
        /format\.json: expected JSON such as \{"format":1,.+ remove the file and start again/,
      )
    }
  })

  it('a start goes on where the note cannot be renewed, as on a full disk', () => {
    mkdirSync(`${path()}.tmp`)
    expect(() => noteFormat(dataDir)).not.to.throw()
    expect(existsSync(path())).to.equal(false)
  })

  it('is asked for by whatever opens the directory: bus, features, keys, backup and restore', async () => {
    writeFileSync(path(), LATER)
    const settings = { DATA_DIR: dataDir, BUS_BROKERS: undefined } as never
    expect(await failureOf(openEmbedded(settings, createFakeClock(), SILENT))).to.match(REFUSED)
    expect(await failureOf(openOnlineStore({ DATA_DIR: dataDir }))).to.match(REFUSED)
    let text = ''
    const stream = {
      write(part: string) {
        text += part
        return true
      },
    }
    const deps = { stdout: stream, stderr: stream, clock: systemClock, environment: { DATA_DIR: dataDir } } as unknown as CommandDeps
    expect(await failureOf(runKeys(['list', '--tenant', 'shop'], deps))).to.match(REFUSED)
    mkdirSync(join(dataDir, 'search'))
    expect(await runBackup([`${dataDir}-backup`], deps)).to.equal(1)
    expect(text).to.match(REFUSED)
    expect(existsSync(`${dataDir}-backup`)).to.equal(false)
    text = ''
    writeFileSync(join(dataDir, 'backup.json'), '{"format":1,"version":"7.8.9","createdAt":"2030-01-01T00:00:00Z","files":[]}')
    const fresh = { ...deps, environment: { DATA_DIR: join(dataDir, 'restored') } }
    expect(await runRestore([dataDir], fresh)).to.equal(1)
    expect(text).to.match(REFUSED)
    expect(existsSync(join(dataDir, 'restored'))).to.equal(false)
    expect(readdirSync(dataDir).filter(name => !name.startsWith('lock'))).to.have.members(['format.json', 'search', 'backup.json'])
  })
})

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no failure',
    error => (error as Error).message,
  )
