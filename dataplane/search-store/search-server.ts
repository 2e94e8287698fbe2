/** The embedded search store: the OpenSearch REST API over storage on the local disk. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { closerWhenIdle } from '../http/close-when-idle.ts'
import { type HttpServer, listen } from '../http/server.ts'
import { type Clock, monotonicMs } from '../ports/clock.ts'
import { makeDurableDirectory } from '../process/durable-directory.ts'
import { backUpStore } from './back-up-store.ts'
import type { QueryRunner } from './calls/query-call.ts'
import { Catalog } from './catalog/catalog.ts'
import { refuseLostCatalogue } from './catalog/lost-catalogue.ts'
import { createStorageOpener } from './catalog/storage-opener.ts'
import { createDeletionReserve, type DeletionReserve } from './deletion-reserve.ts'
import { createBulkPorts } from './http/bulk/bulk-port.ts'
import { createStoreMetrics } from './http/cluster/metrics-routes.ts'
import { createRestServer } from './http/rest-server.ts'
import { ROUTES } from './http/routes.ts'
import { Leases } from './leases/leases.ts'
import { createProcessRunner, type ProcessRunnerConfig } from './query-process/process-runner.ts'
import { createSparingRunner } from './query-process/sparing-runner.ts'
import { createDamageLog } from './storage/damaged-segment.ts'
import { createCommitQueue } from './storage/document-table/commit-queue.ts'
import { type DocumentDatabase, openDocumentDatabase } from './storage/document-table/document-database.ts'
import { createByteCache } from './storage/log-engine/sealed/byte-cache.ts'
import type { PinnedFile } from './storage/pinned-file.ts'
import { createWriteHealth, type WriteHealth } from './write-health.ts'

/** The store's log: a static message and its fields. */
export interface SearchServerLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface SearchServerConfig {
  /** Made where missing; one process at a time. */
  readonly dir: string
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly clock: Clock
  readonly log: SearchServerLog
  /** Largest request with documents, before and after decompression. Default 64 MiB. */
  readonly maxBulkBytes?: number
  /** Memory of queries for parts of log indices that were read lately, bytes. Default 64 MiB. */
  readonly cacheBytes?: number
  /** Time of slow clients at the stop. Default 10 s. */
  readonly drainMs?: number
  /** Where queries run; default: in a process of their own, but for plain ones over small tables. */
  readonly createQueryRunner?: (config: ProcessRunnerConfig) => QueryRunner
}

export interface SearchServer {
  /** Resolves once requests are answered. Rejects when the directory is in use or the port is taken. */
  start(): Promise<void>
  /** Takes no more requests, finishes those under way, closes the storage. */
  stop(): Promise<void>
  /** Takes the bulks of another thread through a port, besides HTTP, until the server or the port is closed. */
  attach(port: MessagePort): void
  /** Makes a copy of the store in a directory on the same file system, which is made; rejects unless started. */
  backUp(to: string): Promise<readonly PinnedFile[]>
  /** Undefined unless started. */
  readonly address: { readonly host: string; readonly port: number } | undefined
}

const MIB = 1024 * 1024
const DEFAULT_MAX_BULK_BYTES = 64 * MIB
const DEFAULT_CACHE_BYTES = 64 * MIB
/** Writing reads little: documents that updates change, documents by id. */
const WRITER_CACHE_BYTES = 16 * MIB
/** Requests with documents that are held at a time, in units of the largest one. */
const HELD_BULKS = 3
const MAINTENANCE_MS = 5_000
/** Connections that still send after this are cut off. */
const DRAIN_MS = 10_000

const UNNAMED =
  'a directory holds documents of an index that store.db does not name, as where an older store.db was put back: it is left as it is. Stop, put back the whole directory of the store from one backup and start again, or remove the directory'

export function createSearchServer(config: SearchServerConfig): SearchServer {
  let running: RunningServer | undefined
  return {
    async start() {
      running ??= await openServer(config)
    },
    async stop() {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
    attach(port) {
      if (running === undefined) port.close()
      else running.attach(port)
    },
    async backUp(to) {
      if (running === undefined) throw new Error('the search store does not run')
      return running.backUp(to)
    },
    get address() {
      return running?.address
    },
  }
}

const createUsualRunner = (config: ProcessRunnerConfig): QueryRunner =>
  createSparingRunner({ ...config, others: createProcessRunner(config) })

interface RunningServer extends Pick<SearchServer, 'attach' | 'backUp'> {
  readonly address: { readonly host: string; readonly port: number }
  stop(): Promise<void>
}

async function openServer(config: SearchServerConfig): Promise<RunningServer> {
  makeDurableDirectory(config.dir)
  const database = openDocumentDatabase(join(config.dir, 'store.db'))
  const writes = createWriteHealth(config.log, () => monotonicMs(config.clock))
  const storages = createStorageOpener(config.dir, {
    database,
    queue: createCommitQueue(database, writes),
    cache: createByteCache(WRITER_CACHE_BYTES),
    clock: config.clock,
    writes,
  })
  const reserve = createDeletionReserve(config.dir)
  const catalog = new Catalog(database, storages, config.clock, reserve)
  const maintenance = new AbortController()
  let queries: QueryRunner | undefined
  try {
    refuseLostCatalogue(config.dir, database)
    await catalog.load()
    reserve.refill()
    for (const { name, uuid, storage } of catalog.red)
      config.log.error(
        { index: name, problem: storage.problem, directory: join(config.dir, 'indices', uuid) },
        'an index could not be opened and is red; restore its directory from a backup and start again, or delete the index',
      )
    for (const directory of catalog.unnamed) config.log.error({ directory, catalogue: join(config.dir, 'store.db') }, UNNAMED)
    const { clock, log, dir, cacheBytes = DEFAULT_CACHE_BYTES } = config
    const leases = new Leases({ dir: join(dir, 'leases'), clock })
    queries = (config.createQueryRunner ?? createUsualRunner)({ catalog, leases, clock, log, dir, cacheBytes })
    const server = await startRest(config, { catalog, leases, queries, writes }, clusterUuid(database))
    const address = { host: server.host, port: server.port }
    const bulkPorts = createBulkPorts(catalog, error => config.log.error({ error }, 'bulk of another thread failed'))
    const maintained = maintain(config, { catalog, leases, reserve }, maintenance.signal)
    config.log.info({ ...address, indices: catalog.indices.length }, 'search store started')
    return {
      address,
      attach: bulkPorts.attach,
      backUp: to => backUpStore({ dir, database, catalog }, to),
      async stop() {
        maintenance.abort()
        await Promise.all([server.stop(config.drainMs ?? DRAIN_MS), bulkPorts.stop()])
        await queries?.stop()
        await maintained
        leases.stop()
        await catalog.close()
        database.close()
        config.log.info({}, 'search store stopped')
      },
    }
  } catch (error) {
    maintenance.abort()
    await queries?.stop()
    await catalog.close()
    database.close()
    throw error
  }
}

function startRest(
  config: SearchServerConfig,
  { catalog, leases, queries, writes }: { catalog: Catalog; leases: Leases; queries: QueryRunner; writes: WriteHealth },
  uuid: string,
): Promise<HttpServer> {
  const maxBulkBytes = config.maxBulkBytes ?? DEFAULT_MAX_BULK_BYTES
  const server = createRestServer({
    routes: ROUTES,
    deps: {
      catalog,
      clock: config.clock,
      metrics: createStoreMetrics(catalog, queries),
      nodeName: 'embedded',
      clusterUuid: uuid,
      queries,
      leases,
      dir: config.dir,
      writes,
    },
    maxBulkBytes,
    maxHeldBytes: HELD_BULKS * maxBulkBytes,
    onDamage: createDamageLog(config.log),
    onError: (error, request) => config.log.error({ error, ...request }, 'search request failed'),
  })
  const { host, port } = config
  return listen(server, { host, port, setting: 'SEARCH_PORT' }, { ...closerWhenIdle(server), cut: () => server.closeAllConnections() })
}

/** Made once, kept with the data. */
function clusterUuid(database: DocumentDatabase): string {
  const [known] = database.catalogue('cluster')
  if (known !== undefined) return known.body
  const uuid = randomBytes(16).toString('base64url')
  database.transaction(() => database.putEntry('cluster', 'uuid', uuid))
  return uuid
}

/** Until stopped: seals and merges what log indices have gathered. */
async function maintain(
  { clock, log }: SearchServerConfig,
  { catalog, leases, reserve }: { readonly catalog: Catalog; readonly leases: Leases; readonly reserve: DeletionReserve },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(MAINTENANCE_MS, signal)
    if (signal.aborted) return
    try {
      reserve.refill()
      leases.sweep()
      await catalog.maintain()
      leases.freeDisk()
    } catch (error) {
      log.warn({ error }, 'maintenance of the log indices failed; it will be tried again')
    }
  }
}
