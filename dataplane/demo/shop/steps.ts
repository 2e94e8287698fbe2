/** Steps of services for a request, each under the conditions of its time. `caller` is the service that tells when the step fails. */
import { Failed, type Journey, type Say } from './journey.ts'
import type { Random } from './random.ts'

/** Longest that callers wait for a statement of the database. */
const STATEMENT_TIMEOUT_MS = 3_000
const LOW_STOCK = 0.02
const DECLINED = 0.015
const WAREHOUSES = ['Utrecht', 'Leipzig', 'Lyon'] as const
const CARRIERS = ['DHL', 'DPD', 'PostNL'] as const

export interface Order {
  readonly order: number
  /** EUR. */
  readonly total: string
}

export function addItem(journey: Journey, product: number): void {
  const say = journey.enter('cart')
  const cart = cartOf(journey.random)
  say('INFO', `adding product ${product} to cart ${cart}`)
  journey.pass(2)
  checkStock(journey, product, say)
  priceCart(journey, cart, say)
}

/** Reads the cart of the customer who orders; returns the total. */
export function readCart(journey: Journey, order: number, caller: Say): string {
  const say = journey.enter('cart')
  const cart = cartOf(journey.random)
  say('INFO', `reading cart ${cart}`)
  journey.pass(2)
  return orTell(
    () => priceCart(journey, cart, say),
    () => caller('ERROR', `order ${order} not placed: cart answered 500`),
  )
}

function priceCart(journey: Journey, cart: number, say: Say): string {
  const { random, conditions } = journey
  if (random.chance(conditions.cartFails)) {
    const message = `NullPointerException: Cannot invoke "Coupon.discount()" because "coupon" is null, cart ${cart}`
    say('ERROR', message, NULL_POINTER)
    throw new Failed(500)
  }
  const total = price(random)
  say('INFO', `cart ${cart} holds ${random.between(1, 7)} items, total ${total} EUR`)
  return total
}

const NULL_POINTER = {
  'exception.type': 'java.lang.NullPointerException',
  'exception.stacktrace':
    'java.lang.NullPointerException: Cannot invoke "Coupon.discount()" because "coupon" is null\n\tat shop.cart.Pricing.total(Pricing.java:57)\n\tat shop.cart.CartController.read(CartController.java:112)',
}

function checkStock(journey: Journey, product: number, caller: Say): void {
  askInventory(journey, `product ${product} not checked`, caller)
  const say = journey.enter('inventory')
  say('INFO', `checking stock of product ${product}`)
  journey.pass(journey.conditions.stockMs)
  if (journey.random.chance(LOW_STOCK)) say('WARN', `product ${product} is low on stock: ${journey.random.between(1, 4)} left`)
  say('INFO', `product ${product} in stock: ${journey.random.between(5, 500)} pieces`)
}

export function reserveStock(journey: Journey, order: number, caller: Say): void {
  askInventory(journey, `order ${order} not placed`, caller)
  const say = journey.enter('inventory')
  say('INFO', `reserving items of order ${order}`)
  journey.pass(journey.conditions.stockMs)
  const what = 'UPDATE stock SET reserved = reserved + $1 WHERE product = $2'
  runStatement(journey, what, () =>
    say('ERROR', `items of order ${order} not reserved: statement timed out after ${STATEMENT_TIMEOUT_MS} ms`),
  )
  say('INFO', `items of order ${order} reserved in ${journey.random.pick(WAREHOUSES)}`)
}

/** The way to the inventory, which may not listen. */
function askInventory(journey: Journey, failure: string, caller: Say): void {
  journey.pass(1)
  if (journey.conditions.inventoryListens) return
  caller('ERROR', `${failure}: inventory: connect ECONNREFUSED 10.12.4.17:8080, connection refused`)
  throw new Failed(503)
}

export function pay(journey: Journey, { order, total }: Order, caller: Say): void {
  const say = journey.enter('payments')
  say('INFO', `authorizing ${total} EUR for order ${order}`)
  if (!journey.conditions.certificateIsValid) {
    journey.pass(35)
    say('ERROR', `authorizing order ${order} failed: TLS handshake with gateway.bank.example:443: certificate has expired`)
    caller('WARN', `order ${order} not placed: payments answered 502`)
    throw new Failed(502)
  }
  journey.pass(140)
  if (journey.random.chance(DECLINED)) {
    say('WARN', `card for order ${order} declined by the bank: insufficient funds`)
    throw new Failed(402)
  }
  say('INFO', `payment for order ${order} authorized by the bank`)
}

export function storeOrder(journey: Journey, order: number, caller: Say): void {
  const what = 'INSERT INTO orders (id, customer, total) VALUES ($1, $2, $3)'
  runStatement(journey, what, () =>
    caller('ERROR', `order ${order} not placed: orders-db: statement timed out after ${STATEMENT_TIMEOUT_MS} ms`),
  )
  caller('INFO', `order ${order} stored`)
}

export function queueShipping(journey: Journey, { order, total }: Order, caller: Say): void {
  journey.pass(1)
  caller('INFO', `order ${order} over ${total} EUR is queued for shipping`)
}

/** The worker takes the order from the queue. */
export function ship(journey: Journey, order: number): void {
  const say = journey.enter('shipping-worker')
  say('INFO', `order ${order} taken from the queue`)
  journey.pass(2)
  runStatement(journey, 'SELECT address FROM orders WHERE id = $1')
  journey.pass(80)
  say('INFO', `label for order ${order} printed by ${journey.random.pick(CARRIERS)}`)
  journey.pass(25)
  say('INFO', `order ${order} shipped, customer told`)
}

/** The database says how long each statement took. Callers without `onTimeout` wait for any time. */
function runStatement(journey: Journey, statement: string, onTimeout?: () => void): void {
  const { statementMs, statementSpread } = journey.conditions
  const askedMs = journey.timeMs
  const neededMs = journey.random.duration(statementMs, statementSpread)
  const isLate = onTimeout !== undefined && neededMs > STATEMENT_TIMEOUT_MS
  const tookMs = isLate ? STATEMENT_TIMEOUT_MS : neededMs
  const say = journey.enter('orders-db')
  journey.timeMs = askedMs + tookMs
  const text = isLate
    ? `canceling statement due to user request: ${statement}`
    : `duration: ${tookMs.toFixed(3)} ms  statement: ${statement}`
  say('INFO', text, { duration_ms: Math.round(tookMs), 'db.query.text': statement })
  if (!isLate) return
  onTimeout()
  throw new Failed(504)
}

/** Lets a failure pass on, once it was told. */
function orTell<T>(step: () => T, tell: () => void): T {
  try {
    return step()
  } catch (error) {
    tell()
    throw error
  }
}

const cartOf = (random: Random) => random.between(10_000, 99_999)
const price = (random: Random) => (random.between(500, 19_900) / 100).toFixed(2)
