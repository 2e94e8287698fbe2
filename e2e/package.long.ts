import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { skipBecause } from '../dataplane/testing/skip-because.ts'
import { countDocuments, postRecords } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'

const run = promisify(execFile)
const PROJECT = resolve(import.meta.dirname, '..')
/** Errors of npm when neither its cache nor the registry has a package. */
const NO_REGISTRY = /ENOTCACHED|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/

describe('the npm package', function () {
  this.timeout(150_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-package-'))
  const empty = join(directory, 'empty')
  let child: ChildProcess | undefined

  before(async function () {
    await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: PROJECT })
    const [tarball] = readdirSync(directory)
    mkdirSync(empty)
    const args = [
      'install',
      // Else npm looks for a package in the folders above.
      `--prefix=${empty}`,
      '--prefer-offline',
      '--omit=optional',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      join(directory, tarball!),
    ]
    const problem = await run('npm', args, { cwd: empty }).then(
      () => undefined,
      (error: Error) => error,
    )
    if (problem !== undefined && NO_REGISTRY.test(problem.message)) skipBecause(this, 'npm reaches no registry')
    if (problem !== undefined) throw problem
    // The optional package is the Node that this project has already: 200 MB that need no copy.
    for (const name of readdirSync(join(PROJECT, 'node_modules')).filter(name => name.startsWith('node-linux-')))
      symlinkSync(join(PROJECT, 'node_modules', name), join(empty, 'node_modules', name))
  })
  after(() => {
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  it('is made by a clone that `npm start` alone has prepared: the compiler is installed first', () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    expect(scripts['prepack']).to.equal(scripts['build'])
  })

  it('holds the compiled program and no sources', () => {
    const files = readdirSync(join(empty, 'node_modules/logpipeline'), { recursive: true, encoding: 'utf8' })
    expect(files).to.include.members([
      'dist/dataplane/main.js',
      'dist/console/index.html',
      'hack/logpipeline',
      'hack/node',
      'package.json',
      'README.md',
    ])
    expect(files.filter(file => file.endsWith('.ts') || file.includes('.test.'))).to.deep.equal([])
  })

  it('runs from node_modules: `npx logpipeline standalone` takes a record in, and finds it', async () => {
    const ports = [
      'GATEWAY',
      'DASHBOARD',
      'OTLP_GRPC',
      'OTLP_HTTP',
      'HEALTH',
      'BRIDGE',
      'TICKETING',
      'AGENT',
      'FEATURES',
      'SCHEDULER',
      'SEARCH',
    ].map(name => [`${name}_PORT`, '0'])
    // In a process group of its own, since npx stands between.
    child = spawn('npx', ['--no-install', 'logpipeline', 'standalone'], {
      cwd: empty,
      detached: true,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...Object.fromEntries(ports) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { otlpHttp, search } = await addressesOf(child)
    const record = {
      id: '1',
      service: 'cart',
      severityText: 'ERROR',
      body: 'from a package',
      attempt: 1,
      timeUnixNano: `${Date.now()}000000`,
    }
    expect(await postRecords(otlpHttp, [record])).to.equal(200)
    await eventually(
      async () => expect(await countDocuments(search, 'service-logs-*', { match_phrase: { message: 'from a package' } })).to.equal(1),
      { timeoutMs: 60_000 },
    )
    const gone = new Promise(done => child!.once('close', done))
    process.kill(-child.pid!, 'SIGTERM')
    await gone
    expect(readdirSync(empty)).to.include('data')
  })
})

/** The addresses that standalone prints once it is up. */
function addressesOf(child: ChildProcess): Promise<{ readonly otlpHttp: string; readonly search: string }> {
  const seen: string[] = []
  return new Promise((resolve, reject) => {
    createInterface(child.stdout!).on('line', line => {
      seen.push(line)
      if (line.includes('"logpipeline is up"')) resolve(JSON.parse(line))
    })
    child.once('close', () => reject(new Error(`standalone ended before it was up:\n${seen.join('\n')}`)))
  })
}
