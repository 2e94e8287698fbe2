import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { loadSettings } from '../config/environment.ts'
import type { Running } from '../process/running.ts'
import { type Log, SILENT } from '../telemetry/log.ts'
import { eventually } from '../testing/eventually.ts'
import { createBackends } from './backends.ts'
import { start as startFeatures } from './features/index.ts'

describe('an online store that cannot be reached', () => {
  const running: Running[] = []
  const warnings: object[] = []
  const log: Log = { ...SILENT, warn: (fields, message) => void warnings.push({ ...fields, message }), child: () => log }
  const ONLINE_STORE_URL = 'redis://reader:geheim@127.0.0.1:1/0'
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop()
    warnings.length = 0
  })

  it('is warned of once at the start of features, by its address and without its password', async () => {
    const settings = loadSettings('features', { HOST: '127.0.0.1', FEATURES_PORT: '0', ONLINE_STORE_URL })
    running.push(await startFeatures({ settings, log, clock: systemClock }))
    await eventually(async () => expect(warnings).to.have.length(1))
    expect(warnings[0]).to.include({ onlineStore: '127.0.0.1:1', message: 'online store does not answer yet' })
    expect(JSON.stringify(warnings)).to.contain('ECONNREFUSED').and.not.to.contain('geheim')
  })

  it('is nothing to tell of once the process stops', async () => {
    const backends = createBackends({ clock: systemClock, log })
    await backends.onlineStore({ ONLINE_STORE_URL, DATA_DIR: '/nowhere' })
    await backends.stop()
    await new Promise(done => setTimeout(done, 50))
    expect(warnings).to.deep.equal([])
  })
})
