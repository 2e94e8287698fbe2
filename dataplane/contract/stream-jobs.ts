/** The stream jobs of the product (Decisions 2). Bridge and agent know them by the client's name that they have on the bus. */
import type { BridgeThread } from './bridge-threads.ts'

/** By process: `thread` is the thread of the bridge in whose place it works, in its consumer group; `jobs` are what the agent reports for it. */
export const STREAM_PROCESSES = {
  etl: { thread: 'etl', jobs: ['etl', 'enrich'] },
  score: { thread: 'anomaly', jobs: ['score'] },
} as const satisfies Readonly<Record<string, { readonly thread: BridgeThread; readonly jobs: readonly string[] }>>

export type StreamProcessName = keyof typeof STREAM_PROCESSES
export const STREAM_PROCESS_NAMES = Object.keys(STREAM_PROCESSES) as StreamProcessName[]

/** Such as `logpipeline-stream-etl.1763812345`: which process, and when it started, s since the epoch. */
export function streamClientId(name: StreamProcessName, startedMs: number): string {
  return `logpipeline-stream-${name}.${Math.floor(startedMs / 1_000)}`
}

/** When a process of this name started, ms since the epoch; undefined for any other client. */
export function streamStartMs(name: StreamProcessName, clientId: string): number | undefined {
  const prefix = `logpipeline-stream-${name}.`
  const seconds = clientId.startsWith(prefix) ? clientId.slice(prefix.length) : ''
  return /^\d{1,12}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}
