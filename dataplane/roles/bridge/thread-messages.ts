import type { BusShare } from '../../adapters/bus/embedded/embedded-bus.ts'
import type { BridgeThread } from '../../contract/counters.ts'
import type { RunState } from '../../pipeline/runners/supervise.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

/** What a thread starts with (`workerData`). */
export interface ThreadData {
  readonly thread: BridgeThread
  readonly settings: BridgeSettings
  readonly bus: BusShare
  readonly counters: SharedArrayBuffer
  readonly config: SharedArrayBuffer
  readonly logFormat: 'json' | 'readable'
}

/** From the bridge to a thread. */
export type ToThread = { readonly kind: 'stop' }

/** From a thread to the bridge. */
export type FromThread = { readonly kind: 'state'; readonly state: RunState; readonly error?: string }
