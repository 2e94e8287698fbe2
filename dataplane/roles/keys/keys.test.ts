import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { TRUST_MS } from '../../api-keys/key-check.ts'
import type { Clock } from '../../ports/clock.ts'
import { lockDirectory } from '../../process/directory-lock.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { SEARCH_ADDRESS_FILE } from '../search-address-file.ts'
import { runKeys } from './index.ts'

describe('logpipeline keys', () => {
  let directory: string
  let search: EmbeddedSearchStore
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'keys-'))
    search = await startEmbeddedSearchStore()
  })
  afterEach(async () => {
    await search.stop()
    rmSync(directory, { recursive: true })
  })

  const run = async (args: readonly string[], environment = {}) => {
    const output = { stdout: '', stderr: '' }
    const sink = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (output[name] += text) })
    const deps = { stdout: sink('stdout'), stderr: sink('stderr'), clock: systemClock }
    return { code: await runKeys(args, { ...deps, environment: { DATA_DIR: directory, ...environment } }), ...output }
  }
  const atSearch = () => ({ SEARCH_ENDPOINT: search.endpoint })

  it('create prints the key alone, list shows it masked, revoke ends it', async () => {
    const { code, stdout, stderr } = await run(['create', '--tenant', 'acme', '--name', 'ci'], atSearch())
    expect([code, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/^svc_proj_[0-9a-f]{64}\n$/)
    const listed = JSON.parse((await run(['list', '--tenant', 'acme'], atSearch())).stdout)
    expect(listed).to.include({ name: 'ci', lastUsedAt: null, prefix: `${stdout.slice(0, 13)}…${stdout.trim().slice(-4)}` })
    expect((await run(['revoke', '--tenant', 'globex', listed.id], atSearch())).code).to.equal(1)
    expect((await run(['revoke', '--tenant', 'acme', listed.id], atSearch())).code).to.equal(0)
    expect((await run(['list', '--tenant', 'acme'], atSearch())).stdout).to.equal('')
  })

  it('revoke with a key in place of its id tells its masked form alone', async () => {
    const key = (await run(['create', '--tenant', 'acme'], atSearch())).stdout.trim()
    for (const args of [[key], ['--name', key]]) {
      const { code, stderr } = await run(['revoke', '--tenant', 'acme', ...args], atSearch())
      expect(code).to.equal(1)
      expect(stderr)
        .to.include(`${key.slice(0, 13)}…${key.slice(-4)}`)
        .and.not.include(key.slice(14, 30))
    }
  })

  it('says that no logpipeline has worked in DATA_DIR yet: one that runs elsewhere does not know the key', async () => {
    const { code, stdout, stderr } = await run(['create', '--tenant', 'acme'])
    expect([code, stdout.trim().length]).to.deep.equal([0, 73])
    expect(stderr).to.equal(
      `logpipeline keys: DATA_DIR ${directory}: no logpipeline has worked there yet; one that runs on another DATA_DIR or SEARCH_ENDPOINT has other keys\n`,
    )
    expect((await run(['list', '--tenant', 'acme'])).stderr).to.equal('')
  })

  it('revoke says so once no gateway takes the key any more', async () => {
    await run(['create', '--tenant', 'acme', '--name', 'ci'], atSearch())
    const done: string[] = []
    const clock: Clock = {
      ...systemClock,
      async sleep(ms) {
        const { stdout } = await run(['list', '--tenant', 'acme'], atSearch())
        done.push(`waits ${ms} ms with the keys ${JSON.stringify(stdout)}`)
      },
    }
    const sink = { write: (text: string) => done.push(text.replace(/ .*\n/, '')) }
    await runKeys(['revoke', '--tenant', 'acme', '--name', 'ci'], { clock, stdout: sink, stderr: sink, environment: atSearch() })
    expect(done).to.deep.equal([`waits ${TRUST_MS} ms with the keys ""`, 'revoked'])
  })

  it('list and revoke take the name of a key', async () => {
    for (const name of ['ci', 'ci', 'laptop']) await run(['create', '--tenant', 'acme', '--name', name], atSearch())
    const namesOf = async (...args: readonly string[]) =>
      (await run(['list', '--tenant', 'acme', ...args], atSearch())).stdout
        .split('\n')
        .flatMap(line => (line === '' ? [] : JSON.parse(line).name))
    expect(await namesOf('--name', 'ci')).to.deep.equal(['ci', 'ci'])
    expect(await namesOf('--name', 'nobody')).to.deep.equal([])
    const byName = (name: string) => run(['revoke', '--tenant', 'acme', '--name', name], atSearch())
    const { code, stdout } = await byName('laptop')
    expect([code, stdout]).to.deep.equal([0, ''])
    expect(await namesOf()).to.deep.equal(['ci', 'ci'])
    const missing = await byName('laptop')
    expect([missing.code, missing.stderr]).to.deep.equal([1, missing.stderr])
    expect(missing.stderr).to.contain('no key named laptop')
    const several = await byName('ci')
    expect(several.code).to.equal(1)
    expect(several.stderr).to.contain('2 keys named ci')
    expect(await namesOf()).to.deep.equal(['ci', 'ci'])
  })

  it('works on DATA_DIR where nothing runs', async function () {
    this.timeout(20_000)
    expect((await run(['create', '--tenant', 'acme'])).stdout).to.match(/^svc_proj_/)
    expect(JSON.parse((await run(['list', '--tenant', 'acme'])).stdout).name).to.equal('cli')
  })

  it('asks the store of the standalone that runs on DATA_DIR', async () => {
    const lock = lockDirectory(directory)
    try {
      writeFileSync(join(directory, SEARCH_ADDRESS_FILE), `${search.endpoint}\n`)
      await run(['create', '--tenant', 'acme', '--name', 'there'])
      expect(JSON.parse((await run(['list', '--tenant', 'acme'], atSearch())).stdout).name).to.equal('there')
    } finally {
      lock.release()
    }
  })

  for (const { args, problem } of [
    { args: [], problem: 'expected one of create, list, revoke' },
    { args: ['make'], problem: 'expected one of create, list, revoke' },
    { args: ['create'], problem: '--tenant: expected a tenant id' },
    { args: ['create', '--tenant', 'Not One'], problem: '--tenant: expected a tenant id' },
    { args: ['create', '--tenant', 'acme', '--name', ''], problem: '--name: expected a name' },
    { args: ['create', '--tenant', 'acme', '--for', 'x'], problem: '--for' },
    { args: ['revoke', '--tenant', 'acme'], problem: 'the id of one key' },
    { args: ['revoke', '--tenant', 'acme', '--name', 'ci', 'an-id'], problem: 'the id of one key' },
  ])
    it(`exit code 64 for ${args.join(' ') || 'nothing'}`, async () => {
      const { code, stderr } = await run(args)
      expect(code).to.equal(64)
      expect(stderr).to.contain(problem)
    })

  it('exit code 1 for a search store that is away', async () => {
    const { code, stderr } = await run(['list', '--tenant', 'acme'], { SEARCH_ENDPOINT: 'http://127.0.0.1:1' })
    expect(code).to.equal(1)
    expect(stderr).to.contain('search store')
  })
})
