import { GROUP_WINDOW_MS, type WindowMember } from './anomaly-window.ts'

const MAX_TRACES = 20_000
const MAX_SERVICES_PER_TRACE = 50

/** Which services of a tenant had anomalies in which traces, and when last. */
export class SharedTraces {
  /** Trace id → service → event time, ms. */
  readonly #traces = new Map<string, Map<string, number>>()
  #size = 0

  /** Services of all traces. */
  get size(): number {
    return this.#size
  }

  dropOldest(): void {
    const [oldest] = this.#traces
    if (oldest === undefined) return
    this.#traces.delete(oldest[0])
    this.#size -= oldest[1].size
  }

  add({ anomaly: { trace_id, service }, atMs }: WindowMember): void {
    if (trace_id === undefined) return
    const services = this.#traces.get(trace_id) ?? new Map<string, number>()
    this.#traces.delete(trace_id)
    if (this.#traces.size >= MAX_TRACES) this.dropOldest()
    this.#traces.set(trace_id, services)
    if (!services.has(service)) {
      if (services.size >= MAX_SERVICES_PER_TRACE) return
      this.#size++
    }
    services.set(service, atMs)
  }

  /** Services with an anomaly in one of the group's traces, all within one window with the group (Decisions 6). */
  servicesWith(group: readonly WindowMember[]): ReadonlySet<string> {
    const found = new Set<string>()
    if (group.length === 0) return found
    const times = group.map(({ atMs }) => atMs)
    const from = Math.max(...times) - GROUP_WINDOW_MS
    const to = Math.min(...times) + GROUP_WINDOW_MS
    for (const trace of new Set(group.map(({ anomaly }) => anomaly.trace_id))) {
      for (const [service, atMs] of (trace !== undefined && this.#traces.get(trace)) || []) {
        if (atMs >= from && atMs <= to) found.add(service)
      }
    }
    return found
  }

  /** Services that had an anomaly in this trace within a window's length of `atMs`. */
  servicesNear(traceId: string, atMs: number): readonly string[] {
    return [...(this.#traces.get(traceId) ?? [])].filter(([, at]) => Math.abs(at - atMs) <= GROUP_WINDOW_MS).map(([service]) => service)
  }
}
