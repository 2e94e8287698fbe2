/** Small systems made up from a seed, each with a fault whose service is known: for asking how well the search for a root cause generalises. */
import { maskMessage, patternId } from '../domain/records/pattern.ts'
import type { Observation } from '../domain/root-cause/observed/observation.ts'
import { statementWords } from '../domain/root-cause/observed/template.ts'

const MINUTE_MS = 60_000
const SYNTHETIC_AT_MS = Date.UTC(2026, 2, 3, 4)

/** How records name requests: with spans, with traces alone, not at all, or each record with a trace of its own. */
export const TRACINGS = ['spans', 'traces', 'none', 'own'] as const
export type Tracing = (typeof TRACINGS)[number]

export interface SyntheticCase {
  readonly observations: readonly Observation[]
  readonly atMs: number
  /** The service that the fault is in. */
  readonly culprit: string
}

/** The behaviour of a service in one visit instead of the usual. */
interface Behaviour {
  /** Writes no record at all, and does not answer. */
  readonly silent?: boolean
  /** ERROR lines in place of the rest of the visit, which fails. */
  readonly errors?: readonly string[]
  /** ERROR lines come after the entry line. */
  readonly afterEntry?: boolean
  /** Fails and writes nothing more. */
  readonly stops?: boolean
  /** Takes so many ms more. */
  readonly slowMs?: number
  /** Lines in place of the usual ones. */
  readonly says?: (line: string) => string
  /** The entry line comes so many times. */
  readonly repeats?: number
  readonly fatal?: boolean
  /** The entry line at level ERROR. */
  readonly entryIsError?: boolean
}

interface World {
  readonly random: () => number
  readonly pick: <T>(from: readonly T[]) => T
  /** Callees by caller; the first service is where requests arrive. */
  readonly callees: ReadonlyMap<string, readonly string[]>
  readonly culprit: string
  /** A service that is not the culprit, nor calls it. */
  readonly bystander: string
}

/** The differences in the window. `null`: the usual. */
interface Fault {
  readonly behave: (service: string, visit: number) => Behaviour | null
  /** Whether callers log that a callee failed, and whether they name it; `quiet`: they stop, `unharmed`: they go on as usual. */
  readonly callers?: 'named' | 'unnamed' | 'quiet' | 'unharmed'
  /** Requests in the window by those before. */
  readonly load?: number
  /** A service that logs errors all the time. */
  readonly noisy?: boolean
  /** A service that is there from so many minutes after the start of the window on (below 0: before it), with normal lines. */
  readonly newcomerFrom?: number
  readonly baselineMinutes?: number
  readonly windowMinutes?: number
  readonly perMinute?: number
  /** The bystander logs other lines from the window on. */
  readonly deployed?: boolean
  /** Cannot be seen without traces. */
  readonly needsTraces?: boolean
}

const only = (culprit: string, behaviour: Behaviour, share = 1): Fault['behave'] => {
  return (service, visit) => (service === culprit && (visit * 0.618034) % 1 < share ? behaviour : null)
}
const REFUSED = 'connection refused: db-primary:5432'
const TIMEOUT = 'timeout after 5000 ms waiting for a connection from the pool'

/** Kinds of faults. */
export const SYNTHETIC_KINDS: Readonly<Record<string, (world: World) => Fault>> = {
  'errors, callers name it': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }), callers: 'named' }),
  'errors, callers do not name it': ({ culprit }) => ({ behave: only(culprit, { errors: [TIMEOUT] }), callers: 'unnamed' }),
  'errors of it alone': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }), callers: 'quiet' }),
  'errors after the first line': ({ culprit }) => ({ behave: only(culprit, { errors: [TIMEOUT], afterEntry: true }), callers: 'unnamed' }),
  'errors in a third of visits (one replica)': ({ culprit }) => ({
    behave: only(culprit, { errors: [REFUSED] }, 1 / 3),
    callers: 'unnamed',
  }),
  'errors in a tenth of visits': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }, 0.1), callers: 'unnamed' }),
  'errors with a stack, line by line': ({ culprit }) => ({
    behave: only(culprit, {
      errors: ['java.lang.NullPointerException: null', 'at shop.Cart.total(Cart.java:88)', 'at shop.Api.get(Api.java:12)'],
    }),
    callers: 'unnamed',
  }),
  'the usual line at level ERROR': ({ culprit }) => ({ behave: only(culprit, { entryIsError: true }), callers: 'quiet' }),
  'exception that nobody logs': ({ culprit }) => ({ behave: only(culprit, { stops: true }), callers: 'quiet' }),
  'silent, callers name it': ({ culprit }) => ({ behave: only(culprit, { silent: true }), callers: 'named' }),
  'silent, callers do not name it': ({ culprit }) => ({ behave: only(culprit, { silent: true }), callers: 'unnamed' }),
  'silent, nobody says so': ({ culprit }) => ({ behave: only(culprit, { silent: true }), callers: 'unharmed' }),
  'heard a fifth as often': ({ culprit }) => ({ behave: only(culprit, { silent: true }, 0.8), callers: 'unnamed' }),
  'crash: one FATAL line, then silence': ({ culprit }) => {
    let crashed = false
    return {
      behave: service => {
        if (service !== culprit) return null
        if (crashed) return { silent: true }
        crashed = true
        return { errors: ['java.lang.OutOfMemoryError: Java heap space'], fatal: true }
      },
      callers: 'named',
    }
  },
  'slow by 800 ms': ({ culprit }) => ({ behave: only(culprit, { slowMs: 800 }), callers: 'quiet', needsTraces: true }),
  'a line ten times as often': ({ culprit }) => ({ behave: only(culprit, { repeats: 10 }), callers: 'quiet' }),
  'bad deploy: other lines, then errors': ({ culprit }) => ({
    behave: only(culprit, { says: line => `v2 ${line} done`, errors: ['cannot read property total of undefined'], afterEntry: true }, 0.5),
    callers: 'unnamed',
  }),
  'errors beside a harmless deploy': ({ culprit }) => ({
    behave: only(culprit, { errors: [REFUSED] }),
    callers: 'unnamed',
    deployed: true,
  }),
  'errors beside a service that always logs errors': ({ culprit }) => ({
    behave: only(culprit, { errors: [TIMEOUT] }),
    callers: 'unnamed',
    noisy: true,
  }),
  'errors beside a chatty new service': ({ culprit }) => ({
    behave: only(culprit, { errors: [REFUSED] }),
    callers: 'unnamed',
    newcomerFrom: 0,
  }),
  'silence beside a chatty new service': ({ culprit }) => ({ behave: only(culprit, { silent: true }), callers: 'named', newcomerFrom: 0 }),
  'errors beside a service that is new since a minute': ({ culprit }) => ({
    behave: only(culprit, { errors: [REFUSED] }),
    callers: 'unnamed',
    newcomerFrom: -1,
  }),
  'few errors beside a service that is new since a minute': ({ culprit }) => ({
    behave: only(culprit, { errors: [REFUSED] }, 0.1),
    callers: 'quiet',
    newcomerFrom: -1,
    windowMinutes: 1,
  }),
  'silence beside a service that is new since a minute': ({ culprit }) => ({
    behave: only(culprit, { silent: true }),
    callers: 'named',
    newcomerFrom: -1,
  }),
  'errors under twice the load': ({ culprit }) => ({ behave: only(culprit, { errors: [TIMEOUT] }, 0.5), callers: 'unnamed', load: 2 }),
  'few records': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }), callers: 'named', perMinute: 3, baselineMinutes: 5 }),
  'one minute of baseline': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }), callers: 'unnamed', baselineMinutes: 1 }),
  'one minute of baseline, silent': ({ culprit }) => ({
    behave: only(culprit, { silent: true }),
    callers: 'named',
    baselineMinutes: 1,
    windowMinutes: 1,
  }),
  'no baseline': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }), callers: 'named', baselineMinutes: 0 }),
  'no baseline, unnamed': ({ culprit }) => ({ behave: only(culprit, { errors: [REFUSED] }, 0.5), callers: 'unnamed', baselineMinutes: 0 }),
}

/** Callees by place; place 0 is where requests arrive. */
const SHAPES: readonly (readonly (readonly number[])[])[] = [
  [[1], [2], []],
  [[1, 2], [3], [4], [], []],
  [[1], [2, 3], [], [4], []],
  [[1, 2, 3], [], [4, 5], [], [], []],
]
const NAMES = [
  'gateway',
  'checkout',
  'payment-service',
  'inventory',
  'user-service',
  'catalog',
  'shipping',
  'ledger',
  'mailer',
  'search-api',
]

/** The same for the same seed. */
export function buildSynthetic(kind: string, tracing: Tracing, seed: number): SyntheticCase | undefined {
  const random = createRandom(seed * 7919 + 17)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const shape = pick(SHAPES)
  const names = shuffled(NAMES, random).slice(0, shape.length)
  const callees = new Map(shape.map((to, at) => [names[at]!, to.map(place => names[place]!)]))
  const culprit = names[1 + Math.floor(random() * (names.length - 1))]!
  const calls = (from: string): boolean => from === culprit || callees.get(from)!.some(calls)
  const bystander = names.find(name => !calls(name)) ?? names.find(name => name !== culprit)!
  const fault = SYNTHETIC_KINDS[kind]!({ random, pick, callees, culprit, bystander })
  if (fault.needsTraces === true && (tracing === 'none' || tracing === 'own')) return undefined
  const baselineMinutes = fault.baselineMinutes ?? pick([3, 5, 10, 15])
  const windowMinutes = fault.windowMinutes ?? pick([1, 2, 3])
  const perMinute = fault.perMinute ?? pick([10, 30, 60])
  const writer = createWriter(tracing, random)
  let visits = 0

  const request = (isWindow: boolean, startMs: number) => {
    const visit = (service: string, atMs: number): { readonly endMs: number; readonly failed: boolean } => {
      const behaviour = (isWindow && fault.behave(service, visits++)) || {}
      const says =
        isWindow && fault.deployed && service === bystander ? (line: string) => `${line} (release 2)` : (behaviour.says ?? (line => line))
      const span = writer.span()
      let timeMs = atMs + 1 + 4 * random()
      const log = (message: string, level: Level = 'INFO') => {
        writer.write({ timeMs, service, message, level, span })
        timeMs += 3 + 6 * random() + (behaviour.slowMs ?? 0) / 2
      }
      if (behaviour.silent) return { endMs: timeMs + 300, failed: true }
      const hasErrors = behaviour.errors !== undefined
      if (!hasErrors || behaviour.afterEntry)
        for (let i = 0; i < (behaviour.repeats ?? 1); i++)
          log(says(`${service} handling request ${Math.floor(random() * 1e6)}`), behaviour.entryIsError ? 'ERROR' : 'INFO')
      for (const error of behaviour.errors ?? []) log(error, behaviour.fatal ? 'FATAL' : 'ERROR')
      if (hasErrors || behaviour.stops) return { endMs: timeMs, failed: true }
      for (const callee of callees.get(service)!) {
        const { endMs, failed } = visit(callee, timeMs)
        timeMs = endMs + 1 + random()
        if (!failed || fault.callers === undefined || fault.callers === 'unharmed') continue
        if (fault.callers === 'named') log(`call to ${callee} failed: 503 Service Unavailable`, 'ERROR')
        if (fault.callers === 'unnamed') log('upstream request failed with status 503', 'ERROR')
        return { endMs: timeMs, failed: true }
      }
      log(says(`${service} answered in ${Math.floor(5 + random() * 40)} ms`))
      return { endMs: timeMs, failed: false }
    }
    writer.begin()
    visit(names[0]!, startMs)
  }

  const spread = (from: number, to: number, rate: number, each: (atMs: number) => void) => {
    for (let i = 0, count = Math.round((to - from) * rate); i < count; i++)
      each(SYNTHETIC_AT_MS + (from + (i + random()) / rate) * MINUTE_MS)
  }
  const all = (rate: number, each: (atMs: number) => void) => {
    spread(-baselineMinutes, 0, rate, each)
    spread(0, windowMinutes, rate, each)
  }
  spread(-baselineMinutes, 0, perMinute, atMs => request(false, atMs))
  spread(0, windowMinutes, perMinute * (fault.load ?? 1), atMs => request(true, atMs))
  // Something that has nothing to do with requests.
  all(4, timeMs => writer.write({ timeMs, service: 'scheduler', message: `job ${Math.floor(timeMs)} finished`, level: 'INFO' }))
  if (fault.noisy)
    all(perMinute, timeMs =>
      writer.write({ timeMs, service: 'legacy-sync', message: 'could not parse row 17: unexpected token', level: 'ERROR' }),
    )
  if (fault.newcomerFrom !== undefined)
    spread(fault.newcomerFrom, windowMinutes, 2 * perMinute, timeMs => {
      writer.begin()
      writer.write({
        timeMs,
        service: 'recommendations',
        message: `scored ${Math.floor(timeMs % 97)} items`,
        level: 'INFO',
        span: writer.span(),
      })
    })
  return { observations: writer.observations, atMs: SYNTHETIC_AT_MS, culprit }
}

type Level = 'INFO' | 'ERROR' | 'FATAL'

interface Written {
  readonly timeMs: number
  readonly service: string
  readonly message: string
  readonly level: Level
  /** The span of a request; absent: the record belongs to no request. */
  readonly span?: string
}

function createWriter(tracing: Tracing, random: () => number) {
  const observations: Observation[] = []
  const hex = () => hexOf(random() * 2 ** 32)
  const kinds = new Map<string, { readonly id: string; readonly template: string }>()
  const kindOf = (pattern: string) => {
    const known = kinds.get(pattern) ?? { id: patternId(pattern), template: statementWords(pattern) }
    kinds.set(pattern, known)
    return known
  }
  let trace = ''
  return {
    observations,
    begin() {
      trace = hex()
    },
    span: hex,
    write({ timeMs, service, message, level, span }: Written) {
      const pattern = maskMessage(message)
      const { id, template } = kindOf(pattern)
      const ofRequest = span !== undefined && (tracing === 'spans' || tracing === 'traces')
      observations.push({
        timeMs,
        service,
        traceId: ofRequest ? trace : tracing === 'own' ? hex() : '',
        spanId: ofRequest && tracing === 'spans' ? span : '',
        template,
        isError: level !== 'INFO',
        logId: `log ${observations.length}`,
        patternId: id,
        pattern,
      })
    },
  }
}

/** 8 hex digits and more of a number below 2^32; of small numbers, since those of large ones take ten times as long. */
function hexOf(value: number): string {
  return (0x10000 + (value >>> 16)).toString(16) + (0x10000 + (value & 0xffff)).toString(16)
}

function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map(value => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value)
}

/** 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
