/** All that the shop says from a time on, in the order of time: the same for the same seed, start and fault. */
import { conditionsAt, FAULTS, type FaultAt } from './faults.ts'
import type { Surroundings } from './journey.ts'
import { JOURNEYS } from './journeys.ts'
import { createRandom, type Random } from './random.ts'
import type { ShopLine, ShopRecord } from './services.ts'

/** Journeys begin so far apart: four a second, about 33 records. */
const MEAN_PAUSE_MS = 250
const FIRST_ORDER = 48_100

export interface Shop {
  readonly seed: number
  readonly fromMs: number
  readonly fault?: FaultAt
}

/** Without an end. */
export function* timelineOf({ seed, fromMs, fault }: Shop): Generator<ShopRecord, never> {
  // Another start makes other traces.
  const random = createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.floor(fromMs / 1_000))
  let order = FIRST_ORDER
  const surroundings: Surroundings = { random, conditionsAt: timeMs => conditionsAt(timeMs, fault), nextOrder: () => ++order }
  const sources = [usualLines(createRandom(seed + 1), fromMs), ...(fault === undefined ? [] : [faultLines(fault, createRandom(seed + 2))])]
  const lines = sources.map(source => ({ source, next: source.next() }))
  /** Records with a time after those given out so far: journeys overlap. */
  const waiting: ShopRecord[] = []
  for (let timeMs = fromMs; ; timeMs += random.exponential(MEAN_PAUSE_MS)) {
    for (const line of lines)
      for (; line.next.done !== true && line.next.value.timeMs < timeMs; line.next = line.source.next()) waiting.push(line.next.value)
    waiting.sort((a, b) => a.timeMs - b.timeMs)
    const due = waiting.findIndex(record => record.timeMs >= timeMs)
    yield* waiting.splice(0, due < 0 ? waiting.length : due)
    waiting.push(...pickJourney(random)(timeMs, surroundings))
  }
}

function pickJourney(random: Random) {
  const at = random.next()
  return (JOURNEYS.find(({ upTo }) => at < upTo) ?? JOURNEYS[0]!).kind
}

function* faultLines({ name, atMs }: FaultAt, random: Random): Generator<ShopRecord, void> {
  for (const { afterMs, ...line } of FAULTS[name].says(random)) yield { ...line, timeMs: atMs + afterMs }
}

/** Lines of services beside requests when all is well. */
function* usualLines(random: Random, fromMs: number): Generator<ShopRecord, never> {
  for (let timeMs = fromMs; ; ) {
    timeMs += random.exponential(6_000)
    yield { timeMs, ...random.pick(USUAL_LINES)(random) }
  }
}

const USUAL_LINES: readonly ((random: Random) => ShopLine)[] = [
  random => ({
    service: 'orders-db',
    level: 'INFO',
    message: `checkpoint complete: wrote ${random.between(80, 900)} buffers, sync ${random.duration(40).toFixed(0)} ms`,
  }),
  random => ({
    service: 'inventory',
    level: 'INFO',
    message: `young collection took ${random.duration(9).toFixed(0)} ms, heap at ${(0.6 + random.next() * 0.5).toFixed(2)} of 2.00 GiB afterwards`,
  }),
  random => ({ service: 'catalog', level: 'INFO', message: `cache refreshed with ${random.between(380, 400)} products` }),
  random => ({ service: 'api-gateway', level: 'INFO', message: `${random.between(20, 80)} connections open` }),
]
