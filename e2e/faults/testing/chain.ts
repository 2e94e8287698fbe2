import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'mocha'
import { Agent, request } from 'undici'
import { openKafkaBus } from '../../../dataplane/adapters/bus/kafka/kafka-bus.ts'
import { partitionOf } from '../../../dataplane/adapters/bus/partitioner.ts'
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import type { RoleName } from '../../../dataplane/contract/roles.ts'
import { TOPICS } from '../../../dataplane/contract/topics.ts'
import { busKey } from '../../../dataplane/domain/tenants/tenant.ts'
import { DEAD_LETTER_HEADERS } from '../../../dataplane/pipeline/dead-letters/dead-letter.ts'
import type { Bus } from '../../../dataplane/ports/bus.ts'
import { type RoleProcess, startRole } from '../../../dataplane/roles/stream/testing/role-process.ts'
import { backendAddress } from '../../../dataplane/testing/real/address.ts'

/** Each of the requests that clear up. */
const DELETED_WITHIN_MS = 30_000

export interface DeadLetter {
  /** Where the message was read that could not be processed. */
  readonly origin: string
  readonly reason: string
}

/** Every role as a process of its own on one Kafka and one OpenSearch, with topics and a tenant that nobody else has. */
export interface Chain {
  readonly tenant: string
  /** URL of OpenSearch. */
  readonly search: string
  /** For data of a role that outlive its process; removed with the chain. */
  readonly directory: string
  /** Aborts when the test is over, however it ended. */
  readonly closing: AbortSignal
  /** URLs of the collectors that run. */
  collectors(): readonly string[]
  /** Starts one more process; resolves once it is healthy. */
  start(role: RoleName, env?: Readonly<Record<string, string>>): Promise<RoleProcess>
  /** SIGKILL; resolves once it is gone. */
  kill(process: RoleProcess): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(process: RoleProcess): Promise<number | null>
  /** Writes messages to `raw-logs` that are no OTLP. */
  writeGarbage(count: number): Promise<void>
  deadLetters(): Promise<readonly DeadLetter[]>
  /** The last output of each process. */
  outputs(): string
  /** Ends all processes and deletes the tenant's documents. */
  close(): Promise<void>
}

export interface ChainOptions {
  readonly kafka?: 'kafka' | 'kafka-3'
  /** Settings of every role. */
  readonly env?: Readonly<Record<string, string>>
  /** Each partition holds records of one of these services: without, one tenant in 128 leaves a bridge that has half of the partitions without any. */
  readonly services?: readonly string[]
}

async function startChain({ kafka = 'kafka', env = {}, services = [] }: ChainOptions = {}): Promise<Chain> {
  const id = findId(services)
  const tenant = tenantOf(id)
  const names = {
    RAW_TOPIC: `raw-${id}`,
    ENRICHED_TOPIC: `enriched-${id}`,
    ANOMALY_TOPIC: `anomaly-${id}`,
    DEAD_LETTER_TOPIC: `dead-${id}`,
  }
  const brokers = backendAddress(kafka)
  const search = backendAddress('opensearch')
  const topics = Object.values(TOPICS).map(({ setting, partitions, retentionMs }) => ({ name: names[setting], partitions, retentionMs }))
  const bus = await openKafkaBus({ brokers: brokers.split(','), clock: systemClock, topics })
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-faults-'))
  const settings = { BUS_BROKERS: brokers, SEARCH_ENDPOINT: search, SERVICE_TENANT_ID: tenant, ...names, ...env }
  const started: { readonly role: RoleName; readonly process: RoleProcess }[] = []
  const starting = new Set<Promise<RoleProcess>>()
  const running = new Map<RoleProcess, RoleName>()
  const closing = new AbortController()
  let directories = 0
  const launch = async (role: RoleName, more: Readonly<Record<string, string>>) => {
    const process = await startRole(role, { ...settings, DATA_DIR: join(directory, String(directories++)), ...more })
    started.push({ role, process })
    running.set(process, role)
    return process
  }
  return {
    tenant,
    search,
    directory,
    closing: closing.signal,
    collectors: () => [...running].filter(([, role]) => role === 'collector').map(([process]) => process.urlOf('OTLP_HTTP_PORT')),
    start(role, more = {}) {
      const process = launch(role, more)
      starting.add(process)
      return process.finally(() => starting.delete(process))
    },
    async kill(process) {
      await process.kill()
      running.delete(process) // until then its clients do not know
    },
    async stop(process) {
      const code = await process.stop()
      running.delete(process)
      return code
    },
    async writeGarbage(count) {
      await bus.send(
        names.RAW_TOPIC,
        Array.from({ length: count }, (_, i) => ({ key: `garbage/${i}`, value: Buffer.from(`{"resourceLogs": no OTLP ${i}`) })),
      )
    },
    deadLetters: () => readDeadLetters(bus, names.DEAD_LETTER_TOPIC),
    outputs: () => started.map(({ role, process }) => `== ${role} ${process.url}\n${process.output()}`).join('\n'),
    async close() {
      closing.abort()
      // Also what a test that failed did not wait for.
      await Promise.allSettled(starting)
      await Promise.all([...running.keys()].map(process => process.kill()))
      running.clear()
      await bus.stop()
      rmSync(directory, { recursive: true, force: true })
      await deleteDocuments(search, tenant)
    },
  }
}

/** A chain for each test of a suite, closed after it; when the test fails, shows what the processes logged last. */
export function useChain(options: (context: Mocha.Context) => ChainOptions | Promise<ChainOptions> = () => ({})): () => Chain {
  let chain: Chain | undefined
  beforeEach(async function () {
    chain = await startChain(await options(this))
  })
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') console.error(chain?.outputs())
    await chain?.close()
    chain = undefined
  })
  return () => chain!
}

const tenantOf = (id: string) => `faults-${id}`

/** An id that nobody else has, and with whose tenant the services' keys reach every partition. */
function findId(services: readonly string[]): string {
  for (;;) {
    const id = randomUUID().slice(0, 8)
    const reached = new Set(services.map(service => partitionOf(busKey(tenantOf(id), service), TOPICS.raw.partitions)))
    if (services.length === 0 || reached.size === TOPICS.raw.partitions) return id
  }
}

async function readDeadLetters(bus: Bus, topic: string): Promise<readonly DeadLetter[]> {
  const { partitions } = await bus.describe()
  const written = partitions.filter(state => state.topic === topic).reduce((sum, { endOffset }) => sum + endOffset, 0)
  if (written === 0) return []
  const subscription = await bus.subscribe({ groupId: `letters of ${topic}`, topics: [topic] })
  const letters: DeadLetter[] = []
  try {
    // Markers of transactions take offsets, too: the last read tells whether all is read.
    for (let quiet = 0; quiet < 4; ) {
      const records = await subscription.poll({ maxRecords: 5_000, maxBytes: 8 << 20, waitMs: 500 })
      quiet = records.length === 0 && subscription.assignment().length > 0 ? quiet + 1 : 0
      for (const { headers } of records) {
        const header = (name: keyof typeof DEAD_LETTER_HEADERS) => headers[DEAD_LETTER_HEADERS[name]]
        letters.push({ origin: `${header('topic')}/${header('partition')}/${header('offset')}`, reason: header('reason') ?? '' })
      }
    }
  } finally {
    await subscription.close()
  }
  return letters
}

/** OpenSearch warns in the heads of its answers, without a bound. */
const MAX_HEADER_BYTES = 4 << 20

async function deleteDocuments(search: string, tenant: string): Promise<void> {
  const own = ['anomalies', 'incidents', 'audit'].map(kind => `service-${kind}-${tenant}`).join(',')
  const dispatcher = new Agent({ maxHeaderSize: MAX_HEADER_BYTES })
  const ask = async (path: string, method: 'DELETE' | 'POST', body?: object) => {
    const answer = await request(`${search}/${path}`, {
      ...{ method, dispatcher, signal: AbortSignal.timeout(DELETED_WITHIN_MS), headers: { 'content-type': 'application/json' } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { warning } = answer.headers
    if (warning !== undefined)
      console.error(`${method} ${path} was answered with ${[warning].flat().length} warnings: ${String(warning).slice(0, 500)}`)
    await answer.body.text()
  }
  try {
    await ask(`${own}?ignore_unavailable=true`, 'DELETE')
    await ask('service-logs-*/_delete_by_query?conflicts=proceed&refresh=true', 'POST', { query: { term: { tenant_id: tenant } } })
  } finally {
    await dispatcher.close()
  }
}
