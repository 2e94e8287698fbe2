import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { COMMAND_RUNNERS } from './roles/index.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

function logpipeline(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    // Code that the runs before have compiled.
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...environment },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('logpipeline', function () {
  this.slow(3000)

  it('--help lists roles and commands', () => {
    const { status, stdout } = logpipeline(['--help'])
    expect(status).to.equal(0)
    expect(stdout)
      .to.match(/^Usage: logpipeline/)
      .and.to.contain('  collector ')
      .and.to.contain('  replay FILE')
  })

  it('--version is that of package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(logpipeline(['--version'])).to.deep.equal({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('--help of the commands loads no client and no server', () => {
    const script = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
      const { COMMAND_RUNNERS } = await import(${JSON.stringify(new URL('./roles/index.ts', import.meta.url))})
      for (const run of Object.values(COMMAND_RUNNERS)) if ((await run(['--help'])) !== 0) throw new Error('expected a help text')
      process.stderr.write(loaded.join('\\n'))
    `
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    const LARGE = /undici|opensearch|kafka|express|search-server\.ts|embedded-bus\.ts|process-runner\.ts/
    expect(stderr.split('\n').filter(url => LARGE.test(url))).to.deep.equal([])
    expect(stderr).to.include('roles/keys/index.ts')
  })

  it('--help of each command says its exit codes', () => {
    for (const name of Object.keys(COMMAND_RUNNERS))
      expect(logpipeline([...name.split(' '), '--help']).stdout, name).to.include('\nExit code: 0 ')
  })

  it('what cannot be written is told and exits 1, without a stack; a reader that went away is none', function () {
    this.timeout(60_000)
    const written = (args: string, to: string) =>
      spawnSync('sh', ['-c', `"$0" --disable-warning=ExperimentalWarning "$1" ${args} ${to}`, process.execPath, MAIN], {
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        encoding: 'utf8',
      })
    for (const args of ['--version', 'capacity --rate 1000']) {
      const full = written(args, '> /dev/full')
      expect(full.stderr, args).to.equal('logpipeline: stdout cannot be written: ENOSPC: no space left on device, write\n')
      expect(full.status, args).to.equal(1)
      expect(written(args, '| true'), args).to.include({ status: 0, stderr: '' })
    }
  })

  it('a directory without a name is refused by backup and restore: it would be the working directory', function () {
    this.timeout(60_000)
    for (const command of ['backup', 'restore']) {
      const { status, stderr } = logpipeline([command, ''])
      expect(status).to.equal(64)
      expect(stderr).to.contain(`logpipeline ${command}: expected one directory, seen nothing`)
    }
  })

  it('an unknown role exits 64 with the usage', () => {
    const { status, stderr } = logpipeline(['doorkeeper'])
    expect(status).to.equal(64)
    expect(stderr).to.contain('seen "doorkeeper"').and.to.contain('Usage: logpipeline')
  })

  for (const { words, problem } of [
    { words: ['stream'], problem: 'stream: expected one of etl, score, seen nothing' },
    { words: ['stream', 'elt'], problem: 'stream: expected one of etl, score, seen "elt"' },
    { words: ['bus', 'list'], problem: 'bus: expected groups, seen "list"' },
    { words: ['config'], problem: 'config: expected check and a role, seen nothing' },
    { words: ['config', 'show', 'agent'], problem: 'config: expected check and a role, seen "show agent"' },
    { words: ['config', 'check'], problem: 'config check: expected a role, seen nothing' },
    { words: ['config', 'check', 'agent', '--json'], problem: 'config check: expected a role alone, seen "agent --json"' },
    { words: ['features', 'show'], problem: 'features: expected no arguments, or compute, seen "show"' },
  ])
    it(`${words.join(' ')} is refused with what belongs there`, () => {
      const { status, stderr } = logpipeline(words)
      expect(status).to.equal(64)
      expect(stderr.split('\n')[0]).to.equal(`logpipeline: ${problem}`)
    })

  it('unusable settings exit 78 with one line for each problem', () => {
    const { status, stdout, stderr } = logpipeline(['ticketing'], { TICKETING_PORT: 'x', SEARCH_ENDPOINT: 'nowhere', LOG_LEVEL: 'loud' })
    expect(status).to.equal(78)
    expect(stdout).to.equal('')
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map(line => line.split(':')[0]),
    ).to.deep.equal(['LOG_LEVEL', 'TICKETING_PORT', 'SEARCH_ENDPOINT'])
  })

  it('stream jobs need Kafka, and a client that keeps out members that lost their partitions', () => {
    for (const job of ['etl', 'score']) {
      const { status, stderr } = logpipeline(['stream', job])
      expect(status).to.equal(78)
      expect(stderr).to.match(/^BUS_BROKERS: expected .*, seen nothing\n$/)
    }
    const other = logpipeline(['config', 'check', 'stream', 'score'], { BUS_BROKERS: 'kafka:9092', BUS_CLIENT: 'kafkajs' })
    expect(other.stderr).to.equal('BUS_CLIENT: expected one of platformatic, seen "kafkajs"\n')
    expect(other.status).to.equal(78)
    const good = logpipeline(['config', 'check', 'stream', 'etl'], { BUS_BROKERS: 'kafka:9092' })
    expect(good.stdout).to.contain('PORT=9464 (default)')
  })

  for (const words of [['config'], ['config', 'check'], ['stream'], ['bus']])
    it(`${words.join(' ')} --help shows the help, too`, () => {
      const { status, stdout } = logpipeline([...words, '--help'])
      expect(status).to.equal(0)
      expect(stdout).to.match(/^Usage: logpipeline ROLE/)
    })

  it('config check shows the settings in force, or exits 78', () => {
    const good = logpipeline(['config', 'check', 'bridge'], { WINDOW_SIZE: '60', SEARCH_PASSWORD: 'hunter2', SEARCH_USERNAME: 'a' })
    expect(good.status).to.equal(0)
    expect(good.stdout).to.contain('WINDOW_SIZE=60\n').and.to.contain('ANOMALY_THRESHOLD=2.5 (default)').and.not.to.contain('hunter2')
    expect(logpipeline(['config', 'check', 'bridge'], { WINDOW_SIZE: '0' }).status).to.equal(78)
  })
  it('config check refuses names that are nearly those of settings, and tells of settings of other roles', () => {
    const { status, stderr } = logpipeline(['config', 'check', 'bridge'], { BUS_BROKER: 'kafka:9092' })
    expect(status).to.equal(78)
    expect(stderr).to.equal('BUS_BROKER: expected the name of a setting, perhaps BUS_BROKERS; seen a name that has no effect\n')
    const other = logpipeline(['config', 'check', 'search'], { BUS_BROKERS: 'kafka:9092' })
    expect(other.status).to.equal(0)
    expect(other.stderr).to.equal('BUS_BROKERS: set, but search has no such setting\n')
  })

  it('a name that seems misspelt stands beside the setting that is missing', () => {
    const { status, stderr } = logpipeline(['stream', 'etl'], { BUS_BROKER: 'kafka:9092' })
    expect(status).to.equal(78)
    expect(stderr.split('\n').map(line => line.replace(/:.*/, ''))).to.deep.equal(['BUS_BROKERS', 'BUS_BROKER', ''])
  })

  it('ROLE --help says what the role does, where it listens, and its settings', () => {
    const { status, stdout } = logpipeline(['stream', 'etl', '--help'])
    expect(status).to.equal(0)
    expect(stdout)
      .to.match(/^Usage: logpipeline stream etl\n\nDoes the bridge's flattening/)
      .and.to.contain('\n  9464 health, metrics (PORT)\n')
      .and.to.match(/\n {2}BUS_BROKERS +Kafka brokers.* \(required\)\n/)
      .and.to.match(/\n {2}LOG_LEVEL +Least severe .* \(default info\)\n/)
  })
})
