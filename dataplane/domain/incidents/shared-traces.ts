/** The traces in which services had anomalies: services that share one belong to the same incident. */
import { GROUP_WINDOW_MS } from './anomaly-config.ts'
import type { WindowMember } from './anomaly-window.ts'

const MAX_TRACES = 20_000
const MAX_SERVICES_PER_TRACE = 50

/** A service in a trace, and the next one of the same trace. Nearly all traces have one service: a `Map` for each takes several objects that live for long. */
interface Seen {
  readonly service: string
  /** Event time, ms. */
  atMs: number
  next: Seen | undefined
}

/** Which services of a tenant had anomalies in which traces, and when last. */
export class SharedTraces {
  /** The services of a trace in the order in which they came, by trace id, the trace longest untouched first. */
  readonly #traces = new Map<string, Seen>()
  /** Stands before the oldest: a new iterator would pass over all that was deleted before it, each time. */
  #oldestFirst = this.#traces.entries()
  #size = 0

  /** Services of all traces. */
  get size(): number {
    return this.#size
  }

  dropOldest(): void {
    const oldest = this.#nextOldest()
    if (oldest === undefined) return
    this.#traces.delete(oldest[0])
    for (let seen: Seen | undefined = oldest[1]; seen !== undefined; seen = seen.next) this.#size--
  }

  #nextOldest(): readonly [string, Seen] | undefined {
    let next = this.#oldestFirst.next()
    if (next.done === true) {
      // It was at the end once, where it stays.
      this.#oldestFirst = this.#traces.entries()
      next = this.#oldestFirst.next()
    }
    return next.value
  }

  add({ anomaly: { trace_id, service }, atMs }: WindowMember): void {
    if (trace_id === undefined) return
    const first = this.#traces.get(trace_id)
    if (first !== undefined) this.#traces.delete(trace_id)
    if (this.#traces.size >= MAX_TRACES) this.dropOldest()
    if (first === undefined) this.#size++
    else this.#see(first, service, atMs)
    this.#traces.set(trace_id, first ?? { service, atMs, next: undefined })
  }

  #see(first: Seen, service: string, atMs: number): void {
    let seen = first
    for (let count = 1; seen.service !== service; count++) {
      if (seen.next === undefined) {
        if (count >= MAX_SERVICES_PER_TRACE) return
        seen.next = { service, atMs, next: undefined }
        this.#size++
        return
      }
      seen = seen.next
    }
    seen.atMs = atMs
  }

  /** Services with an anomaly in one of the group's traces, all within one window with the group (Decisions 6). */
  servicesWith(group: readonly WindowMember[]): ReadonlySet<string> {
    const found = new Set<string>()
    if (group.length === 0) return found
    const times = group.map(({ atMs }) => atMs)
    const from = Math.max(...times) - GROUP_WINDOW_MS
    const to = Math.min(...times) + GROUP_WINDOW_MS
    for (const trace of new Set(group.map(({ anomaly }) => anomaly.trace_id)))
      for (let seen = this.#firstOf(trace); seen !== undefined; seen = seen.next)
        if (seen.atMs >= from && seen.atMs <= to) found.add(seen.service)
    return found
  }

  /** Services that had an anomaly in this trace within a window's length of `atMs`. */
  servicesNear(traceId: string, atMs: number): readonly string[] {
    const near: string[] = []
    for (let seen = this.#firstOf(traceId); seen !== undefined; seen = seen.next)
      if (Math.abs(seen.atMs - atMs) <= GROUP_WINDOW_MS) near.push(seen.service)
    return near
  }

  #firstOf(traceId: string | undefined): Seen | undefined {
    return traceId === undefined ? undefined : this.#traces.get(traceId)
  }
}
