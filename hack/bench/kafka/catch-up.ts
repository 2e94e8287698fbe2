/**
 * Memory and pace of a bridge that catches up on a backlog in a real Kafka, with a search store in a process of its own.
 * `hack/node hack/bench/kafka/catch-up.ts --help` says how to call it.
 */
import { parseArgs } from 'node:util'
import { residentMb } from '../../../e2e/testing/resident-memory.ts'
import { cpuSeconds } from '../process-usage.ts'
import { type ServerProcess, startServer } from '../server-process.ts'
import { sendLoad } from '../throughput.ts'
import { type BenchTopics, createTopics, deleteTopics } from './bench-topics.ts'
import { OUR_COLLECTOR, PROGRAM, startCollector } from './collector-subjects.ts'
import { withRealServers } from './real-servers.ts'

const USAGE = `hack/node hack/bench/kafka/catch-up.ts [options]

  --records N     the backlog (default 10000000)
  --seconds N     how long the bridge is watched, at most (default 150)`

const RECORDS_PER_REQUEST = 100
const SEND_FOR_MS = 10_000
const LOOK_EVERY_MS = 1_000

interface Look {
  readonly bridgeMb: number
  readonly searchMb: number
}

async function measure(backlog: number, watchMs: number): Promise<void> {
  const topics = await createTopics()
  const running: ServerProcess[] = []
  try {
    const sent = await fill(topics, backlog)
    console.log(`${sent} records in Kafka`)
    const search = await start('search', 'SEARCH_PORT', '/_cluster/health', {})
    running.push(search)
    const bridge = await start('bridge', 'BRIDGE_PORT', '/health', {
      ...topics.settings,
      SEARCH_ENDPOINT: `http://127.0.0.1:${search.port}`,
      ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    })
    running.unshift(bridge)
    const started = performance.now()
    const looks: Look[] = []
    let searchable = 0
    while (searchable < sent && performance.now() - started < watchMs) {
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
      looks.push({ bridgeMb: residentMb(bridge.pid), searchMb: residentMb(search.pid) })
      searchable = await countLogs(search.port).catch(() => searchable)
    }
    const seconds = (performance.now() - started) / 1_000
    console.log(`${searchable} records searchable after ${seconds.toFixed()} s, ${Math.round(searchable / seconds)} a second`)
    console.log(
      `bridge: ${summary(looks.map(({ bridgeMb }) => bridgeMb))}; ${((cpuSeconds(bridge.pid) / searchable) * 1e6).toFixed(1)} CPU µs a record`,
    )
    console.log(
      `search: ${summary(looks.map(({ searchMb }) => searchMb))}; ${((cpuSeconds(search.pid) / searchable) * 1e6).toFixed(1)} CPU µs a record`,
    )
  } finally {
    for (const server of running) await server.remove()
    await deleteTopics(topics)
  }
}

/** Writes a backlog of at least so many records as the collector does. */
async function fill(topics: BenchTopics, backlog: number): Promise<number> {
  const collector = await startCollector(OUR_COLLECTOR, topics)
  try {
    let sent = 0
    while (sent < backlog)
      sent += (await sendLoad(collector.target('http-protobuf'), RECORDS_PER_REQUEST, { durationMs: SEND_FOR_MS })).recordsAccepted
    return sent
  } finally {
    await collector.kill()
  }
}

/** A role as a user starts it. */
function start(role: string, portSetting: string, healthPath: string, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  return startServer(
    (port, dataDir) => ({
      command: PROGRAM,
      args: [role],
      env: { HOST: '127.0.0.1', LOG_LEVEL: 'warn', DATA_DIR: dataDir, [portSetting]: String(port), ...env },
    }),
    healthPath,
  )
}

async function countLogs(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/service-logs-*/_count`)
  const { count } = (await answer.json()) as { readonly count: number }
  return count
}

function summary(megabytes: readonly number[]): string {
  const mean = megabytes.reduce((sum, each) => sum + each, 0) / megabytes.length
  return `peak ${Math.max(...megabytes).toFixed()} MB, mean ${mean.toFixed()} MB`
}

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    seconds: { type: 'string', default: '150' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else await withRealServers(['kafka'], () => measure(Number(values.records), 1_000 * Number(values.seconds)))
