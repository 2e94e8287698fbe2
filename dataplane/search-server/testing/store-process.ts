/** A search store as a process of its own, to be killed: `store-process.ts <dir>` writes its port to stdout. */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchServer } from '../search-server.ts'

const log = { info() {}, warn() {}, error: (fields: object) => void process.stderr.write(`${JSON.stringify(fields)}\n`) }
const server = createSearchServer({ dir: process.argv[2]!, host: '127.0.0.1', port: 0, clock: systemClock, log })
try {
  await server.start()
  process.stdout.write(`${server.address!.port}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
