/** A search store as a process of its own, to be killed: `store-process.ts <dir> [entry of its query process]` writes its port to stdout. */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createProcessRunner, type ProcessRunnerConfig } from '../query-process/process-runner.ts'
import { createSearchServer } from '../search-server.ts'

const log = { info() {}, warn() {}, error: (fields: object) => void process.stderr.write(`${JSON.stringify(fields)}\n`) }
const entry = process.argv[3]
const runner =
  entry === undefined
    ? {}
    : { createQueryRunner: (config: ProcessRunnerConfig) => createProcessRunner({ ...config, entry: new URL(entry) }) }
const server = createSearchServer({ dir: process.argv[2]!, host: '127.0.0.1', port: 0, clock: systemClock, log, ...runner })
try {
  await server.start()
  process.stdout.write(`${server.address!.port}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
