/** The ways in which the shop breaks: what each does to requests, and what services say of it themselves. */
import type { Random } from './random.ts'
import type { ServiceName, ShopLine } from './services.ts'

/** Conditions that requests meet. */
export interface Conditions {
  /** Median time of a database statement, ms, and the spread of its logarithm. */
  readonly statementMs: number
  readonly statementSpread: number
  readonly cartVersion: string
  /** Share of requests to the cart that fail. */
  readonly cartFails: number
  readonly inventoryListens: boolean
  /** Median time of a look at the stock, ms. */
  readonly stockMs: number
  readonly certificateIsValid: boolean
  readonly workerRuns: boolean
}

export const HEALTHY: Conditions = {
  statementMs: 4,
  statementSpread: 0.5,
  cartVersion: '2.3.4',
  cartFails: 0,
  inventoryListens: true,
  stockMs: 3,
  certificateIsValid: true,
  workerRuns: true,
}

export interface Fault {
  /** The fault, in one line. */
  readonly summary: string
  /** The service that a good analysis names first. */
  readonly cause: ServiceName
  /** Conditions that are not as usual so long after the fault began. */
  readonly conditions: (elapsedMs: number) => Partial<Conditions>
  /** Lines of services beside requests, in the order of time, without an end or with one. */
  readonly says: (random: Random) => Iterable<ShopLine & { readonly afterMs: number }>
}

const NEW_CART_VERSION = '2.4.0'
const DEPLOYED_AFTER_MS = 2_500
/** The heap of the inventory is full after so long; then it starts again, and fills again. */
const HEAP_FILLS_MS = 24_000
const RESTARTS_MS = 9_000
const CYCLE_MS = HEAP_FILLS_MS + RESTARTS_MS
const HEAP_GIB = 2

export const FAULTS = {
  'slow-database': {
    summary: 'an index is built on the table of orders, and every statement waits for it',
    cause: 'orders-db',
    conditions: () => ({ statementMs: 2_600, statementSpread: 0.4 }),
    *says(random) {
      yield { afterMs: 0, service: 'orders-db', level: 'INFO', message: 'statement: CREATE INDEX orders_created_at ON orders (created_at)' }
      for (let afterMs = 1_000; ; afterMs += random.exponential(2_500)) {
        const waitedMs = random.duration(1_400, 0.2).toFixed(3)
        const message = `process ${random.between(8_000, 8_040)} still waiting for RowExclusiveLock on relation ${random.between(16_400, 16_410)} after ${waitedMs} ms`
        yield { afterMs, service: 'orders-db', level: 'WARN', message }
      }
    },
  },
  'bad-deploy': {
    summary: `version ${NEW_CART_VERSION} of the cart throws exceptions for carts without a coupon`,
    cause: 'cart',
    conditions: elapsedMs => (elapsedMs < DEPLOYED_AFTER_MS ? {} : { cartVersion: NEW_CART_VERSION, cartFails: 0.6 }),
    *says() {
      yield { afterMs: 0, service: 'cart', level: 'INFO', message: 'shutting down, requests under way are finished' }
      const message = `cart ${NEW_CART_VERSION} started in 2.1 s, listening on port 8080`
      yield { afterMs: DEPLOYED_AFTER_MS, service: 'cart', level: 'INFO', message }
    },
  },
  'out-of-memory': {
    summary: 'the inventory leaks memory, dies and starts again, over and over',
    cause: 'inventory',
    conditions: elapsedMs => {
      const inCycle = elapsedMs % CYCLE_MS
      if (inCycle >= HEAP_FILLS_MS) return { inventoryListens: false }
      return { stockMs: HEALTHY.stockMs * (1 + 60 * (inCycle / HEAP_FILLS_MS) ** 2) }
    },
    *says(random) {
      for (let cycleMs = 0; ; cycleMs += CYCLE_MS) {
        for (let inCycle = 0; inCycle < HEAP_FILLS_MS; inCycle += random.duration(2_200, 0.1)) {
          const share = 0.8 + (0.19 * inCycle) / HEAP_FILLS_MS
          const message = `GC pause of ${random.duration(60 + 900 * share ** 8).toFixed(0)} ms, heap at ${(share * HEAP_GIB).toFixed(2)} of ${HEAP_GIB}.00 GiB afterwards`
          yield { afterMs: cycleMs + inCycle, service: 'inventory', level: 'WARN', message }
        }
        const died = cycleMs + HEAP_FILLS_MS
        const message = 'java.lang.OutOfMemoryError: Java heap space, terminating'
        yield { afterMs: died, service: 'inventory', level: 'FATAL', message, attributes: OUT_OF_MEMORY }
        yield { afterMs: died + RESTARTS_MS, service: 'inventory', level: 'INFO', message: 'inventory 5.0.1 started in 6.8 s' }
      }
    },
  },
  'expired-certificate': {
    summary: 'the client certificate with which payments talks to the bank has expired',
    cause: 'payments',
    conditions: () => ({ certificateIsValid: false }),
    *says() {},
  },
  'silent-worker': {
    summary: 'the shipping worker hangs: orders are queued, and nobody says why they are not shipped',
    cause: 'shipping-worker',
    conditions: () => ({ workerRuns: false }),
    *says() {},
  },
} as const satisfies Record<string, Fault>

const OUT_OF_MEMORY = {
  'exception.type': 'java.lang.OutOfMemoryError',
  'exception.stacktrace':
    'java.lang.OutOfMemoryError: Java heap space\n\tat shop.inventory.StockCache.put(StockCache.java:88)\n\tat shop.inventory.StockService.check(StockService.java:41)',
}

export type FaultName = keyof typeof FAULTS
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[]

/** A fault and when it begins. */
export interface FaultAt {
  readonly name: FaultName
  readonly atMs: number
}

export function conditionsAt(timeMs: number, fault: FaultAt | undefined): Conditions {
  return fault === undefined || timeMs < fault.atMs ? HEALTHY : { ...HEALTHY, ...FAULTS[fault.name].conditions(timeMs - fault.atMs) }
}
