import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { openEmbeddedOnlineStore } from '../../adapters/online-store/embedded/embedded-online-store.ts'
import type { HttpServer } from '../../http/server.ts'
import type { OnlineStore } from '../../ports/online-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { startFeatures } from './features.ts'
import { feastPython, INSTALL_LIMIT_MS } from './testing/feast-python.ts'

const SCRIPT = fileURLToPath(new URL('./testing/feast_client.py', import.meta.url))

describe('the Feast SDK with this server as its remote online store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-feast-'))
  let python: string
  let store: OnlineStore | undefined
  let server: HttpServer | undefined
  before(async function () {
    this.timeout(INSTALL_LIMIT_MS)
    python = await feastPython(this)
    store = openEmbeddedOnlineStore(join(directory, 'store'))
    server = await startFeatures({ store, clock: systemClock, log: SILENT, host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    await server?.stop(0)
    await store?.close()
    rmSync(directory, { recursive: true })
  })

  it('pushes features and gets them back', async function () {
    this.timeout(60_000)
    const { stdout } = await promisify(execFile)(python, [SCRIPT, directory, `http://127.0.0.1:${server!.port}`], { timeout: 50_000 })
    const { before: empty, after: filled, full } = JSON.parse(stdout.trim().split('\n').at(-1)!)
    const entities = { tenant_id: ['acme', 'globex', 'acme'], service: ['checkout', 'checkout', 'unknown'] }
    const names = ['ml_error_rate_1h', 'ml_p99_latency_1h', 'ml_request_rate_1h', 'ml_anomaly_history_count']
    expect(empty).to.deep.equal({ ...entities, ...Object.fromEntries(names.map(name => [name, [null, null, null]])) })
    expect(filled).to.deep.equal({
      ...entities,
      ml_error_rate_1h: [0.3, 0, null],
      ml_p99_latency_1h: [2_500.5, 10, null],
      ml_request_rate_1h: [1.25, 2, null],
      ml_anomaly_history_count: [4, 0, null],
    })
    expect(full).to.have.members(['tenant_id', 'service', ...names.map(name => `service_stats__${name}`)])
  })
})
