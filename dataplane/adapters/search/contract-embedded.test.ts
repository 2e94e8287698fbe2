import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSearchServer } from '../../search-server/search-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { systemClock } from '../clock/system-clock.ts'
import { describeSearchStore } from './contract.ts'
import { createSearchStore } from './search-store.ts'

describeSearchStore(
  'embedded',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'logpipeline-search-'))
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
  },
  { hasMappings: true },
)
