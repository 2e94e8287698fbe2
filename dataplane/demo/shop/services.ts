/** The eight services of the shop. */

export const SERVICES = {
  'api-gateway': { version: '1.19.2', host: 'api-gateway-7d9c5-x2lqp' },
  catalog: { version: '3.2.0', host: 'catalog-5f6b8-9kdmt' },
  cart: { version: '2.3.4', host: 'cart-6c7f9-hw4zn' },
  inventory: { version: '5.0.1', host: 'inventory-58d7b-q8vjc' },
  checkout: { version: '4.11.0', host: 'checkout-79b4d-t5xfs' },
  payments: { version: '2.8.3', host: 'payments-66f8c-lp7rg' },
  'orders-db': { version: '16.4', host: 'orders-db-0' },
  'shipping-worker': { version: '1.4.7', host: 'shipping-worker-85c6d-m3bnk' },
} as const

export type ServiceName = keyof typeof SERVICES
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[]

export type ShopLevel = 'INFO' | 'WARN' | 'ERROR' | 'FATAL'
export type ShopAttributes = Readonly<Record<string, string | number>>

/** A line of a service outside of requests. */
export interface ShopLine {
  readonly service: ServiceName
  readonly level: ShopLevel
  readonly message: string
  readonly attributes?: ShopAttributes
}

export interface ShopRecord extends ShopLine {
  /** Event time, ms since the epoch, with fractions. */
  readonly timeMs: number
  /** Where it is not the usual one. */
  readonly version?: string
  /** Absent outside of requests. */
  readonly traceId?: string
  readonly spanId?: string
}
