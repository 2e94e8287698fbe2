import type { MessagePort } from 'node:worker_threads'
import type { BridgeThread } from '../../contract/bridge-threads.ts'
import type { RunState } from '../../pipeline/runners/supervise.ts'
import type { BusLink } from '../backends.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

/** The start message of a worker (`workerData`). */
export interface WorkerData {
  /** Threads that the worker runs, each with a consumer group and failures of its own. */
  readonly threads: readonly BridgeThread[]
  /** `etl` does the work of `anomaly` and `indexer`, too; these take what was on `enriched-logs` before, and flags that come late. */
  readonly hasDirectLane: boolean
  readonly settings: BridgeSettings
  readonly bus: BusLink
  /** For bulks, where the search store is a part of this process. */
  readonly searchPort: MessagePort | undefined
  readonly counters: SharedArrayBuffer
  readonly config: SharedArrayBuffer
  readonly logFormat: 'json' | 'readable'
}

/** From the bridge to a worker. */
export type ToWorker = { readonly kind: 'stop' }

/** From a worker to the bridge. */
export type FromWorker =
  | { readonly kind: 'state'; readonly thread: BridgeThread; readonly state: RunState; readonly error?: string }
  | { readonly kind: 'deadLetters'; readonly stage: string; readonly tenant: string; readonly letters: number }
