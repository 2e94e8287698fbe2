/** Prometheus metrics of one role, from tables of names and help texts. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { refusedConnections } from './refused-connections.ts'
import type { SharedCounters } from './shared-counters.ts'

export interface MetricDescription {
  readonly name: string
  readonly help: string
}
export type MetricTable<K extends string> = Readonly<Record<K, MetricDescription>>

export interface Metrics {
  /** The text exposition format, to be sent as `contentType`. */
  text(): Promise<string>
  readonly contentType: string
  /** Registers the table's counters; the function returned adds to one of them. */
  counters<K extends string>(table: MetricTable<K>): (key: K, amount?: number) => void
  /** Registers a counter with labels; the function returned adds to the series with these values. */
  labelledCounter(description: MetricDescription, labels: readonly string[]): (values: readonly string[], amount: number) => void
  /** Exposes counters that live in shared memory. */
  sharedCounters<K extends string>(table: MetricTable<K>, counters: SharedCounters<K>): void
  /** Exposes a value that is read at each scrape. */
  gauge(description: MetricDescription, read: () => number | Promise<number>): void
  /** Exposes values that are read at each scrape, one for each value of the label. */
  labelledGauge(description: MetricDescription, label: string, read: () => Promise<readonly (readonly [string, number])[]>): void
  /** Adds metrics of the process: CPU, memory, event loop, file handles. */
  processMetrics(): void
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  let hasProcess = false
  return {
    text: async () => [await registry.metrics(), ...(hasProcess ? [await ofProcess().metrics()] : [])].join('\n'),
    contentType: registry.contentType,
    counters(table) {
      const counters = mapTable(table, description => new Counter({ ...description, registers }))
      return (key, amount) => counters[key].inc(amount)
    },
    labelledCounter({ name, help }, labels) {
      const counter = new Counter({ name, help, labelNames: [...labels], registers })
      return (values, amount) => counter.labels(...values).inc(amount)
    },
    sharedCounters(table, shared) {
      for (const key of Object.keys(table) as (keyof typeof table)[]) {
        const { name, help } = table[key]
        const counter: Counter = new Counter({ name, help, registers, collect: () => copyValue(counter, shared.value(key)) })
      }
    },
    gauge({ name, help }, read) {
      const gauge: Gauge = new Gauge({ name, help, registers, collect: async () => gauge.set(await read()) })
    },
    labelledGauge({ name, help }, label, read) {
      const collect = async () => {
        const values = await read()
        gauge.reset()
        for (const [value, figure] of values) gauge.set({ [label]: value }, figure)
      }
      const gauge: Gauge<string> = new Gauge({ name, help, labelNames: [label], registers, collect })
    },
    processMetrics() {
      hasProcess = true
      ofProcess()
    },
  }
}

/** Time between two looks at the delay of the event loop: each wakes the thread. */
const EVENT_LOOP_EVERY_MS = 50

let shared: Registry | undefined

/** One for all roles of a thread: each would watch its event loop and its garbage collections on its own. */
function ofProcess(): Registry {
  if (shared === undefined) {
    shared = new Registry()
    collectDefaultMetrics({ register: shared, eventLoopMonitoringPrecision: EVENT_LOOP_EVERY_MS })
    const refused: Counter = new Counter({
      ...{
        name: 'logpipeline_connections_refused_total',
        help: 'Connections closed at once: their server, or their address, has as many as it may.',
      },
      registers: [shared],
      collect: () => copyValue(refused, refusedConnections()),
    })
  }
  return shared
}

function copyValue(counter: Counter, value: number): void {
  counter.reset()
  counter.inc(value)
}

function mapTable<K extends string, T>(table: MetricTable<K>, build: (description: MetricDescription) => T): Record<K, T> {
  return Object.fromEntries(Object.entries<MetricDescription>(table).map(([key, description]) => [key, build(description)])) as Record<K, T>
}
