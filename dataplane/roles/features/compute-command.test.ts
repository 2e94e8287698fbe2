import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { openEmbeddedOnlineStore } from '../../adapters/online-store/embedded/embedded-online-store.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { lockDirectory } from '../../process/directory-lock.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { SEARCH_ADDRESS_FILE } from '../search-address-file.ts'
import { runFeaturesCompute } from './compute-command.ts'

const NOW = Date.UTC(2026, 10, 21, 16, 30)

describe('logpipeline features compute', () => {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-compute-'))
  const server = createSearchServer({ dir: join(dir, 'search'), host: '127.0.0.1', port: 0, clock: systemClock, log: SILENT })
  let endpoint: string
  before(async () => {
    await server.start()
    endpoint = `http://127.0.0.1:${server.address!.port}`
    const search = createSearchStore({ endpoint })
    await putIndexTemplates(search)
    const record = { timestamp: '2026-11-21T15:20:00.000Z', tenant_id: 'acme', service: 'checkout', level: 'ERROR', message: 'm' }
    await search.put('service-logs-2026.11.21', 'one', record)
    await search.close()
  })
  after(async () => {
    await server.stop()
    rmSync(dir, { recursive: true })
  })

  const run = async (args: readonly string[], environment = {}) => {
    const output = { stdout: '', stderr: '' }
    const sink = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (output[name] += text) })
    const deps = { stdout: sink('stdout'), stderr: sink('stderr'), clock: createFakeClock(NOW) }
    const settings = { SEARCH_ENDPOINT: endpoint, DATA_DIR: dir, ...environment }
    return { code: await runFeaturesCompute(args, { ...deps, environment: settings }), ...output }
  }

  it('writes the features of the last full hour and says so', async () => {
    const { code, stdout } = await run([])
    expect([code, JSON.parse(stdout)]).to.deep.equal([0, { hour: '2026-11-21T15:00:00.000Z', written: 1, removed: 0, kept: 0 }])
    const store = openEmbeddedOnlineStore(join(dir, 'features'))
    const [row] = await store.read([{ tenant: 'acme', service: 'checkout' }])
    await store.close()
    expect(row?.values).to.include({ ml_error_rate_1h: 1, ml_request_rate_1h: 1 / 3_600 })
  })

  it('or those of the hour that is named', async () => {
    expect(JSON.parse((await run(['--hour', '2026-11-21T14:00:00Z'])).stdout)).to.deep.include({
      hour: '2026-11-21T14:00:00.000Z',
      written: 0,
    })
  })

  it('without SEARCH_ENDPOINT: from the store of the standalone that runs on DATA_DIR', async () => {
    const dataDir = join(dir, 'data')
    const lock = lockDirectory(dataDir)
    writeFileSync(join(dataDir, SEARCH_ADDRESS_FILE), `${endpoint}\n`)
    const whileItRuns = await run([], { SEARCH_ENDPOINT: undefined, DATA_DIR: dataDir })
    lock.release()
    expect([whileItRuns.code, whileItRuns.stderr]).to.deep.equal([0, ''])
    expect(JSON.parse(whileItRuns.stdout)).to.include({ written: 1 })
  })

  it('--help explains it', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).to.equal(0)
    expect(stdout).to.contain('--hour TIME')
  })

  for (const { name, args, environment = {}, expected, error } of [
    { name: 'an hour under way', args: ['--hour', '2026-11-21T16:00:00Z'], expected: 64, error: 'an hour that is over' },
    { name: 'half an hour', args: ['--hour', '2026-11-21T14:30:00Z'], expected: 64, error: '--hour: expected the start of an hour' },
    { name: 'an unknown option', args: ['--now'], expected: 64, error: '--now' },
    { name: 'a directory that is not there', args: [], environment: { DATA_DIR: '/nowhere/at/all' }, expected: 1, error: 'DATA_DIR' },
    {
      name: 'a search store that is away',
      args: [],
      environment: { SEARCH_ENDPOINT: 'http://127.0.0.1:1' },
      expected: 1,
      error: 'search store',
    },
    {
      name: 'a Redis that is away',
      args: [],
      environment: { ONLINE_STORE_URL: 'redis://127.0.0.1:1' },
      expected: 1,
      error: 'online store',
    },
  ])
    it(`exit code ${expected} for ${name}`, async () => {
      const { code, stderr } = await run(args, environment)
      expect(stderr).to.contain(`logpipeline features compute: `).and.to.contain(error)
      expect(code).to.equal(expected)
    })
})
