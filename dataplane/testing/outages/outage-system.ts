/** A small company's services that work as they do before an outage and during one: records of two phases, made up from a seed. */
import { entryOf } from '../../domain/root-cause/observed/entry-of.ts'
import { type Called, type CallFailure, type Level, type Line, LOG_STYLES, type LogStyle, type StyleName } from './log-styles.ts'

export const OUTAGE_AT_MS = Date.UTC(2026, 2, 3, 4)
const MINUTE_MS = 60_000
const BEFORE_MS = 12 * MINUTE_MS
const WINDOW_MS = 2.5 * MINUTE_MS
const REQUESTS_PER_MINUTE = 30
const TIMEOUT_MS = 5_000

/** The purpose of a service; its name may be any. */
export type Role =
  | 'edge'
  | 'web'
  | 'orders'
  | 'stock'
  | 'prices'
  | 'payments'
  | 'users'
  | 'search'
  | 'worker'
  | 'database'
  | 'cache'
  | 'broker'
  | 'dns'
  | 'kubelet'
  | 'events'
  | 'kernel'
  | 'lag'

export interface RawRecord {
  readonly timeMs: number
  readonly service: string
  readonly level: string | undefined
  readonly message: string
  readonly traceId: string
  readonly spanId: string
  readonly pod: string
  readonly node: string
}

/** The work of a service in one call instead of the usual. */
export interface Behaviour {
  /** Lines before it answers with `status`. */
  readonly lines?: readonly Line[]
  readonly status?: number
  /** Nobody accepts the connection; or the name, or the certificate, keeps callers out. */
  readonly unreachable?: Exclude<CallFailure, number | 'timeout'>
  /** Takes the call, and never answers. */
  readonly hangs?: boolean
  /** Does not even write that a call came. */
  readonly mute?: boolean
  readonly slowMs?: number
  /** The words of a database, or of a cache, to its client. */
  readonly tells?: string
}

export interface Call {
  readonly caller: Role | undefined
  /** From 0 to 1, by chance. */
  readonly share: number
  /** Since the outage began. */
  readonly minute: number
  readonly pod: string
  /** Number of the replica, of two. */
  readonly replica: number
}

export interface Outage {
  /** The work of the service of a role in one call of the window. `share` is a number from 0 to 1, of the call. */
  readonly behave?: (role: Role, call: Call) => Behaviour | undefined
  /** Further records; those before the window have negative times, ms from its start. */
  readonly also?: (system: SystemNames) => readonly Further[]
  /** Calls of a caller to others are tried so many times when they fail. */
  readonly tries?: number
  /** The consumers take no messages, from the start of the window on; `minute` as of a call. */
  readonly consumes?: (share: number, minute: number) => Behaviour | undefined
  /** Requests in the window by those before. */
  readonly load?: number
  /** The loggers of the services. */
  readonly styles?: keyof typeof STYLES
}

export interface Further {
  readonly atMs: number
  readonly role: Role
  readonly level: Level | 'none'
  /** Through the logger of the service, else as it is. */
  readonly line: string | Line
}

export interface SystemNames {
  readonly of: (role: Role) => string
  readonly pod: (role: Role, at?: number) => string
  readonly random: () => number
}

const CALLEES: Readonly<Partial<Record<Role, readonly Role[]>>> = {
  web: ['orders'],
  orders: ['stock', 'prices', 'payments'],
  stock: ['database'],
  payments: ['users', 'database'],
  users: ['cache'],
  prices: ['cache'],
}
const FLOWS: readonly (readonly Role[])[] = [['orders'], ['users'], ['search'], ['prices'], ['orders']]

const NAMES: readonly Readonly<Record<Role, string>>[] = [
  {
    ...{
      edge: 'nginx-ingress',
      web: 'storefront',
      orders: 'checkout',
      stock: 'inventory',
      prices: 'pricing',
      payments: 'payment',
      users: 'accounts',
    },
    ...{ search: 'catalog-search', worker: 'fulfilment-worker', database: 'postgres', cache: 'redis', broker: 'kafka', dns: 'coredns' },
    ...{ kubelet: 'kubelet', events: 'k8s-events', kernel: 'node-kernel', lag: 'kafka-lag-exporter' },
  },
  {
    ...{
      edge: 'edge-proxy',
      web: 'bff',
      orders: 'transfer-api',
      stock: 'ledger',
      prices: 'fx-rates',
      payments: 'card-processor',
      users: 'kyc',
    },
    ...{ search: 'statements', worker: 'notifier', database: 'bank-db', cache: 'session-cache', broker: 'event-broker', dns: 'kube-dns' },
    ...{ kubelet: 'kubelet', events: 'kube-events', kernel: 'kern', lag: 'burrow' },
  },
  {
    ...{
      edge: 'gateway',
      web: 'portal',
      orders: 'booking-service',
      stock: 'seat-service',
      prices: 'tariff-service',
      payments: 'billing-service',
      users: 'member-service',
    },
    ...{
      search: 'route-finder',
      worker: 'ticket-printer',
      database: 'booking-postgres',
      cache: 'valkey',
      broker: 'kafka-broker',
      dns: 'dns',
    },
    ...{ kubelet: 'kubelet', events: 'event-exporter', kernel: 'kernel', lag: 'lag-monitor' },
  },
]

const APPLICATIONS: readonly Role[] = ['web', 'orders', 'stock', 'prices', 'payments', 'users', 'search', 'worker']
const STYLES = {
  usual: ['logback', 'zap', 'python', 'pino', 'dotnet', 'logrus'],
  structured: ['logstash', 'zap', 'structlog', 'pino', 'serilog', 'logback', 'bunyan'],
} as const satisfies Record<string, readonly StyleName[]>
const PORTS: Readonly<Partial<Record<Role, number>>> = { web: 3000, database: 5432, cache: 6379 }
const NODES = ['ip-10-0-1-17', 'ip-10-0-2-44', 'ip-10-0-3-81']

const DOES: Readonly<Partial<Record<Role, readonly [string, string]>>> = {
  web: ['POST /api/checkout received', 'POST /api/checkout answered 200 in %d ms'],
  orders: ['placing order %d of 3 lines', 'order %d accepted'],
  stock: ['reserving 3 items for order %d', 'reserved 3 items for order %d'],
  prices: ['quote requested for basket %d', 'basket %d quoted in %d ms'],
  payments: ['authorising payment %d', 'payment %d authorised'],
  users: ['loading profile %d', 'profile %d loaded'],
  search: ['query with 2 terms', 'query answered with %d hits'],
  worker: ['message order-%d taken from partition 2', 'order-%d handled in %d ms'],
}

export interface SystemOptions {
  /** Chooses names, loggers and clocks. */
  readonly seed: number
  readonly hasTraces: boolean
  /** Parts of one system's life have other requests by other pods. */
  readonly part?: number
  readonly beforeMs?: number
  readonly windowMs?: number
  readonly requestsPerMinute?: number
  /** Requests that begin within the window end in it, or lack what comes later. Default: true. */
  readonly isCut?: boolean
}

/** Records before the outage and during it, in no order. */
export function buildSystem(
  outage: Outage,
  {
    seed,
    hasTraces,
    part = 0,
    beforeMs = BEFORE_MS,
    windowMs = WINDOW_MS,
    requestsPerMinute = REQUESTS_PER_MINUTE,
    isCut = true,
  }: SystemOptions,
): { readonly records: readonly RawRecord[]; readonly names: SystemNames } {
  const random = randomOf(seed + part * 1_000)
  const names = NAMES[seed % NAMES.length]!
  const loggers: readonly StyleName[] = STYLES[outage.styles ?? 'usual']
  const styles = new Map<Role, StyleName>(APPLICATIONS.map((role, at) => [role, loggers[(at * 5 + seed) % loggers.length]!] as const))
  styles.set('edge', 'nginx')
  // Some agents tell the level of a record, others leave it in the text.
  const tellsLevel = (role: Role) => (role.length + seed) % 3 !== 0
  const offset = (role: Role) => (seed % 3 === 2 ? ((role.length * 7 + seed) % 5) * 300 : 0)
  const pods = new Map<string, string>()
  const podOf = (role: Role, at: number) =>
    entryOf(pods, `${role} ${at}`, () => `${names[role]}-${letters(random, 9)}-${letters(random, 5)}`)
  const system: SystemNames = { of: role => names[role], pod: (role, at = 0) => podOf(role, at), random }
  const records: RawRecord[] = []
  const put = (
    role: Role,
    timeMs: number,
    level: Level | 'none',
    message: string,
    of?: { traceId: string; spanId: string; replica: number },
  ) => {
    const replica = of?.replica ?? 0
    records.push({
      ...{ timeMs: timeMs + offset(role), service: names[role] },
      level: level === 'none' || !tellsLevel(role) ? undefined : level.toUpperCase(),
      message,
      traceId: hasTraces ? (of?.traceId ?? '') : '',
      spanId: hasTraces ? (of?.spanId ?? '') : '',
      ...{ pod: podOf(role, replica), node: NODES[(role.length + replica) % NODES.length]! },
    })
  }
  const styleOf = (role: Role): LogStyle => LOG_STYLES[styles.get(role) ?? 'logback']
  const log = (role: Role, timeMs: number, line: Line, of?: { traceId: string; spanId: string; replica: number }) =>
    put(role, timeMs, line.level, styleOf(role).write(Math.round(timeMs), names[role], line), of)

  interface Answer {
    readonly endMs: number
    readonly failure?: CallFailure
    readonly tells?: string
  }
  const isStore = (role: Role) => role === 'database' || role === 'cache'
  const call = (role: Role, caller: Role | undefined, startMs: number, traceId: string): Answer => {
    const inWindow = startMs >= OUTAGE_AT_MS
    const of = { traceId, spanId: hex(random, 16), replica: Math.floor(random() * 2) }
    const share = random()
    const minute = (startMs - OUTAGE_AT_MS) / MINUTE_MS
    const odd =
      (inWindow ? outage.behave?.(role, { caller, share, minute, pod: podOf(role, of.replica), replica: of.replica }) : undefined) ?? {}
    const id = Math.floor(1e4 + random() * 9e4)
    const say = (text: string) => text.replaceAll('%d', String(id))
    let timeMs = startMs + 1 + random() * 6
    if (odd.unreachable !== undefined) return { endMs: timeMs, failure: odd.unreachable }
    const [begin, end] = DOES[role] ?? []
    if (begin !== undefined && odd.mute !== true) log(role, timeMs, { level: 'info', text: say(begin) }, of)
    if (odd.hangs === true || odd.mute === true) return { endMs: timeMs + TIMEOUT_MS, failure: 'timeout' }
    timeMs += (odd.slowMs ?? 0) * (0.6 + 0.8 * random())
    for (const line of odd.lines ?? []) {
      timeMs += 2
      if (isStore(role)) put(role, timeMs, line.level, line.text, of)
      else log(role, timeMs, line, of)
    }
    if (odd.status !== undefined && odd.status >= 400)
      return { endMs: timeMs + 2, failure: odd.status, ...(odd.tells !== undefined && { tells: odd.tells }) }
    for (const callee of CALLEES[role] ?? []) {
      let answer: Answer = { endMs: timeMs }
      for (let tries = 0; tries < (outage.tries ?? 1); tries++) {
        answer = call(callee, role, timeMs + 1, traceId)
        if (answer.endMs - timeMs > TIMEOUT_MS) answer = { endMs: timeMs + TIMEOUT_MS, failure: 'timeout' }
        timeMs = answer.endMs
        if (answer.failure === undefined) break
        if (tries + 1 < (outage.tries ?? 1))
          log(role, timeMs, { level: 'warn', text: `attempt ${tries + 1} failed, trying again in 200 ms` }, of)
        timeMs += 200
      }
      if (answer.failure === undefined) continue
      const called = calledOf(callee, names)
      const thrown = isStore(callee)
        ? styleOf(role).failedStore(callee === 'cache' ? 'redis' : 'postgresql', called, answer.tells)
        : styleOf(role).failedCall(called, answer.failure)
      log(role, timeMs + 1, { level: 'error', text: say(FAILS[role] ?? 'request failed'), thrown }, of)
      return {
        endMs: timeMs + 2,
        failure: answer.failure === 403 || answer.failure === 404 ? 500 : typeof answer.failure === 'number' ? answer.failure : 500,
      }
    }
    timeMs += 1 + random() * 4
    if (end !== undefined) log(role, timeMs, { level: 'info', text: say(end) }, of)
    return { endMs: timeMs + 1 }
  }
  const request = (startMs: number) => {
    const inWindow = startMs >= OUTAGE_AT_MS
    const traceId = hex(random, 32)
    const flow = FLOWS[Math.floor(random() * FLOWS.length)]!
    const of = { traceId, spanId: hex(random, 16), replica: 0 }
    const entry: Role = flow[0] === 'orders' ? 'web' : flow[0]!
    const path = `/${entry === 'web' ? 'checkout' : entry}/${Math.floor(random() * 1e4)}`
    const edge =
      (inWindow
        ? outage.behave?.('edge', { caller: undefined, share: random(), minute: (startMs - OUTAGE_AT_MS) / MINUTE_MS, pod: '', replica: 0 })
        : undefined) ?? {}
    for (const line of edge.lines ?? []) put('edge', startMs, 'none', LOG_STYLES.nginx.write(startMs, '', line), of)
    const answer = edge.status === undefined ? call(entry, 'edge', startMs, traceId) : { endMs: startMs + 1, failure: edge.status }
    const { failure } = answer
    const status = failure === undefined ? 200 : typeof failure === 'number' ? failure : failure === 'timeout' ? 504 : 502
    if (failure !== undefined && typeof failure !== 'number')
      put(
        'edge',
        answer.endMs,
        'none',
        LOG_STYLES.nginx.write(answer.endMs, '', {
          level: 'error',
          text: LOG_STYLES.nginx.failedCall({ ...calledOf(entry, names), path }, failure),
        }),
        of,
      )
    put(
      'edge',
      answer.endMs + 1,
      'none',
      `10.1.0.17 - - [03/Mar/2026:04:00:${String(Math.floor(random() * 60)).padStart(2, '0')} +0000] "POST ${path} HTTP/1.1" ${status} ${Math.floor(random() * 900)} "-" "Mozilla/5.0"`,
      of,
    )
    if (failure === undefined && entry === 'web') {
      const takenMs = answer.endMs + 20 + random() * 200
      const odd = takenMs >= OUTAGE_AT_MS ? outage.consumes?.(random(), (takenMs - OUTAGE_AT_MS) / MINUTE_MS) : undefined
      if (odd?.mute === true) return
      const ofWorker = { traceId, spanId: hex(random, 16), replica: Math.floor(random() * 2) }
      const id = String(Math.floor(1e4 + random() * 9e4))
      log('worker', takenMs, { level: 'info', text: DOES.worker![0].replaceAll('%d', id) }, ofWorker)
      for (const [at, line] of (odd?.lines ?? []).entries()) log('worker', takenMs + 3 + at, line, ofWorker)
      if (odd?.status === undefined) log('worker', takenMs + 30, { level: 'info', text: DOES.worker![1].replaceAll('%d', id) }, ofWorker)
    }
  }

  const startMs = OUTAGE_AT_MS - beforeMs
  const endMs = OUTAGE_AT_MS + windowMs
  for (let timeMs = startMs; timeMs < endMs; ) {
    const rate = requestsPerMinute * (timeMs >= OUTAGE_AT_MS ? (outage.load ?? 1) : 1)
    timeMs += (-Math.log(1 - random()) * MINUTE_MS) / rate
    if (timeMs < endMs) request(timeMs)
  }
  background(system, put, log)
  for (const { atMs, role, level, line } of outage.also?.(system) ?? []) {
    const timeMs = OUTAGE_AT_MS + atMs
    if (typeof line === 'string') put(role, timeMs, level, line)
    else log(role, timeMs, line)
  }
  return { records: isCut ? records.filter(({ timeMs }) => timeMs < endMs) : records, names: system }

  function background({ random }: SystemNames, write: typeof put, logLine: typeof log): void {
    const every = (ms: number, at: (timeMs: number) => void) => {
      for (let timeMs = startMs + random() * ms; timeMs < endMs; timeMs += ms * (0.8 + 0.4 * random())) at(timeMs)
    }
    every(60_000, timeMs =>
      write(
        'database',
        timeMs,
        'none',
        `${stamp(timeMs)} UTC [27] LOG:  checkpoint complete: wrote ${Math.floor(random() * 900)} buffers (1.1%); write=12.1 s, sync=0.01 s, total=12.2 s`,
      ),
    )
    every(45_000, timeMs => write('cache', timeMs, 'none', `1:M 03 Mar 2026 04:00:00.112 * 100 changes in 300 seconds. Saving...`))
    every(50_000, timeMs =>
      write(
        'broker',
        timeMs,
        'none',
        `[${stamp(timeMs).replace('.', ',')}] INFO [GroupCoordinator 1]: Stabilized group ${names.worker} generation ${Math.floor(random() * 90)} (kafka.coordinator.group.GroupCoordinator)`,
      ),
    )
    every(40_000, timeMs =>
      write(
        'kubelet',
        timeMs,
        'none',
        `I0303 04:00:00.118273    2114 kubelet_getters.go:219] "Pod status updated" pod="kube-system/kube-proxy-x7kq2" status="Running"`,
      ),
    )
    every(20_000, timeMs => write('lag', timeMs, 'info', `group=${names.worker} topic=orders.placed lag=${Math.floor(random() * 4)}`))
    // Somebody always complains.
    every(9_000, timeMs =>
      logLine('search', timeMs, {
        level: 'error',
        text: `could not refresh suggestions for locale de_AT`,
        thrown: 'java.util.MissingResourceException: Can’t find bundle for base name suggestions',
      }),
    )
    every(14_000, timeMs =>
      logLine('users', timeMs, { level: 'warn', text: `login failed for user ${Math.floor(random() * 1e5)}: bad credentials` }),
    )
  }
}

const FAILS: Readonly<Partial<Record<Role, string>>> = {
  web: 'POST /api/checkout failed',
  orders: 'order %d could not be placed',
  stock: 'reservation for order %d failed',
  payments: 'payment %d failed',
  users: 'profile %d could not be loaded',
  prices: 'quote for basket %d failed',
}

function calledOf(role: Role, names: Readonly<Record<Role, string>>): Called {
  return { host: names[role], port: PORTS[role] ?? 8080, path: `/internal/${role}` }
}

export const stamp = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 23).replace('T', ' ')

function hex(random: () => number, digits: number): string {
  let text = ''
  while (text.length < digits) text += Math.floor(random() * 16).toString(16)
  return text
}

/** Kubernetes makes names of these. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789'

function letters(random: () => number, count: number): string {
  return Array.from({ length: count }, () => SAFE[Math.floor(random() * SAFE.length)]!).join('')
}

/** mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
