/** Journeys of customers in the shop: browse, fill a cart, place an order, which is then shipped. */
import { Failed, Journey, type Surroundings } from './journey.ts'
import type { ShopRecord } from './services.ts'
import { addItem, pay, queueShipping, readCart, reserveStock, ship, storeOrder } from './steps.ts'

const PRODUCTS = 400
const CUSTOMERS = 900
/** How long an order lies in the queue of the shipping worker. */
const QUEUED_MS = 900

export type JourneyKind = (timeMs: number, surroundings: Surroundings) => readonly ShopRecord[]

const browse: JourneyKind = (timeMs, surroundings) => {
  const product = surroundings.random.between(1, PRODUCTS)
  const journey = new Journey(timeMs, surroundings)
  answer(journey, { method: 'GET', path: `/api/products/${product}`, success: 200 }, () => {
    const { random } = journey
    const say = journey.enter('catalog')
    say('INFO', `loading product ${product} for customer ${random.between(1, CUSTOMERS)}`)
    journey.pass(6)
    if (random.chance(0.02)) say('WARN', `product ${product} has no picture, showing the placeholder`)
    say('INFO', `product ${product} rendered with ${random.between(2, 9)} offers`)
  })
  return journey.records
}

const fillCart: JourneyKind = (timeMs, surroundings) => {
  const journey = new Journey(timeMs, surroundings)
  answer(journey, { method: 'POST', path: '/api/cart/items', success: 200 }, () => {
    addItem(journey, journey.random.between(1, PRODUCTS))
  })
  return journey.records
}

const placeOrder: JourneyKind = (timeMs, surroundings) => {
  const journey = new Journey(timeMs, surroundings)
  const order = journey.nextOrder()
  const isPlaced = answer(journey, { method: 'POST', path: '/api/orders', success: 201 }, () => {
    const say = journey.enter('checkout')
    say('INFO', `placing order ${order} for customer ${journey.random.between(1, CUSTOMERS)}`)
    journey.pass(3)
    const total = readCart(journey, order, say)
    reserveStock(journey, order, say)
    pay(journey, { order, total }, say)
    storeOrder(journey, order, say)
    queueShipping(journey, { order, total }, say)
  })
  if (!isPlaced) return journey.records
  journey.pass(QUEUED_MS, 0.6)
  if (journey.conditions.workerRuns) ship(journey, order)
  return journey.records
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The status of a request that went well. */
  readonly success: number
}

/** Through the gateway, whose access log has one line for each request, when it is answered. False: the request failed. */
function answer(journey: Journey, { method, path, success }: Route, request: () => void): boolean {
  const say = journey.enter('api-gateway')
  const beganMs = journey.timeMs
  journey.pass(1.5)
  let status = success
  try {
    request()
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    status = error.status
  }
  journey.pass(1)
  const ms = Math.round(journey.timeMs - beganMs)
  const attributes = { 'http.request.method': method, 'url.path': path, 'http.response.status_code': status, duration_ms: ms }
  say('INFO', `${method} ${path} answered ${status} in ${ms} ms`, attributes)
  return status === success
}

/** A random number from 0 to 1 chooses the first whose `upTo` is above it. */
export const JOURNEYS: readonly { readonly kind: JourneyKind; readonly upTo: number }[] = [
  { kind: browse, upTo: 0.35 },
  { kind: fillCart, upTo: 0.65 },
  { kind: placeOrder, upTo: 1 },
]
