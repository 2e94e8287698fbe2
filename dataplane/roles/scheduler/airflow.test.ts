import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { createSearchServer } from '../../search-server/search-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { describeAirflowApi } from './airflow-contract.ts'

describeAirflowApi('the embedded search store', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-scheduler-'))
  const server = createSearchServer({ dir, host: '127.0.0.1', port: 0, clock: systemClock, log: SILENT })
  await server.start()
  const store = createSearchStore({ endpoint: `http://127.0.0.1:${server.address!.port}` })
  return {
    store,
    async stop() {
      await store.close()
      await server.stop()
      rmSync(dir, { recursive: true })
    },
  }
})
