import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'

const root = resolve(import.meta.dirname, '..')
const RUN = { version: '1.0.0', integrity: 'sha512-run' }
const TEST = { version: '2.0.0', integrity: 'sha512-test', dev: true }
const MACHINE = { version: '3.0.0', integrity: 'sha512-machine', optional: true }

describe('hack/setup.sh', () => {
  let checkout: string
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'setup-'))
    for (const directory of ['hack', 'bin', 'dataplane']) mkdirSync(join(checkout, directory))
    for (const name of ['setup.sh', 'node', 'logpipeline']) {
      copyFileSync(join(root, 'hack', name), join(checkout, 'hack', name))
      chmodSync(join(checkout, 'hack', name), 0o755)
    }
    writeFileSync(join(checkout, 'bin', 'npm'), `#!/bin/sh\necho "$@" >> ${checkout}/npm.log\nmkdir -p node_modules/mocha\n`, {
      mode: 0o755,
    })
    lock({ 'node_modules/run': RUN, 'node_modules/test': TEST, 'node_modules/other-machine': MACHINE })
  })
  afterEach(() => rmSync(checkout, { recursive: true }))

  const lock = (packages: object) =>
    writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }))
  /** As npm leaves it behind, whoever called npm. */
  const install = (packages: object) => {
    mkdirSync(join(checkout, 'node_modules'), { recursive: true })
    writeFileSync(join(checkout, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
  }
  const run = (...command: readonly [string, ...string[]]) =>
    spawnSync(command[0], command.slice(1), {
      cwd: checkout,
      env: { ...process.env, PATH: `${checkout}/bin:${process.env['PATH']}` },
      encoding: 'utf8',
    })
  /** Arguments of the call of npm; undefined without a call. */
  const npmCall = (what: 'start' | 'all') => {
    const { status, stderr } = run('sh', 'hack/setup.sh', what)
    expect(status, stderr).to.equal(0)
    const log = join(checkout, 'npm.log')
    return existsSync(log) ? readFileSync(log, 'utf8').split(' ').slice(0, 2).join(' ') : undefined
  }

  const cases: readonly (readonly [string, object | undefined, 'start' | 'all', string | undefined])[] = [
    ['installs what a start needs into a fresh clone', undefined, 'start', 'ci --omit=dev'],
    ['installs all into a fresh clone for the tests', undefined, 'all', 'ci --include=dev'],
    ['leaves a full `npm ci` alone', { 'node_modules/run': RUN, 'node_modules/test': TEST }, 'start', undefined],
    ['is content for the tests with a full `npm ci`', { 'node_modules/run': RUN, 'node_modules/test': TEST }, 'all', undefined],
    ['is content for a start with what a start needs', { 'node_modules/run': RUN }, 'start', undefined],
    ['adds what the tests need', { 'node_modules/run': RUN }, 'all', 'ci --include=dev'],
    ['installs anew when the lockfile has changed', { 'node_modules/run': { ...RUN, version: '0.9.0' } }, 'start', 'ci --omit=dev'],
    [
      'takes nothing away when the lockfile has changed',
      { 'node_modules/run': { ...RUN, version: '0.9.0' }, 'node_modules/test': TEST },
      'start',
      'ci --include=dev',
    ],
  ]
  for (const [title, installed, what, expected] of cases)
    it(title, () => {
      if (installed !== undefined) install(installed)
      expect(npmCall(what)).to.equal(expected)
    })

  it('is called by the scripts and the command line of a fresh clone', () => {
    run('hack/logpipeline', '--version')
    expect(readFileSync(join(checkout, 'npm.log'), 'utf8')).to.match(/^ci --omit=dev/)
    rmSync(join(checkout, 'node_modules'), { recursive: true })
    run('hack/node', 'hack/any.ts')
    expect(readFileSync(join(checkout, 'npm.log'), 'utf8').split('\n')[1]).to.match(/^ci --include=dev/)
  })
})
