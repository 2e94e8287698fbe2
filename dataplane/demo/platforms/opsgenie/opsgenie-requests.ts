/** Requests that Opsgenie has taken with 202: they are carried out a little later, in their order, and may still fail. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../ports/clock.ts'
import { createNewest } from '../newest.ts'

/** Time between the 202 and the change. */
const PROCESSING_MS = 150

export interface TakenRequest {
  /** The kind of change, such as `Create`. */
  readonly action: string
  readonly alias: string
  /** Makes the change; the problem, or nothing. */
  run(): string | undefined
}

/** The fate of a request, as it is asked for. */
interface ProcessedRequest {
  readonly success: boolean
  readonly isSuccess: boolean
  readonly action: string
  readonly status: string
  readonly alertId: string
  readonly alias: string
  readonly processedAt: string
}

export interface TakenRequests {
  /** The id by which the request is asked for. */
  take(request: TakenRequest): string
  /** Carries out what is due. */
  settle(): void
  /** Nothing before the request was carried out. */
  find(id: string): ProcessedRequest | undefined
  /** Requests that were carried out, the newest first. */
  processed(): readonly ProcessedRequest[]
  /** The next so many requests fail. */
  failNext(times: number): void
  clear(): void
}

/** `alertIdOf`: the alert that has the alias by now. */
export function createTakenRequests(clock: Clock, alertIdOf: (alias: string) => string | undefined): TakenRequests {
  const processed = createNewest<ProcessedRequest>()
  let pending: (TakenRequest & { readonly id: string; readonly dueMs: number })[] = []
  let failures = 0

  return {
    take({ action, alias, run }) {
      const id = randomUUID()
      pending.push({ id, action, alias, dueMs: clock.nowMs() + PROCESSING_MS, run })
      return id
    },
    settle() {
      const due = pending.filter(({ dueMs }) => dueMs <= clock.nowMs())
      pending = pending.filter(each => !due.includes(each))
      for (const { id, action, alias, run } of due) {
        const problem = failures > 0 ? 'Request could not be processed' : run()
        failures = Math.max(0, failures - 1)
        const isSuccess = problem === undefined
        const status = problem ?? `${action} processed`
        const processedAt = new Date(clock.nowMs()).toISOString()
        processed.put(id, { success: isSuccess, isSuccess, action, status, alertId: alertIdOf(alias) ?? '', alias, processedAt })
      }
    },
    find: processed.get,
    processed: processed.all,
    failNext(times) {
      failures = times
    },
    clear() {
      processed.clear()
      pending = []
    },
  }
}
