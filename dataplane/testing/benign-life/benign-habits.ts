/** The habits of a system that is well, as people know them from nights on call: lines of its requests, of its clock, and of those who work on it. */
import { error, event, info, klog, postgres, warn } from '../outages/outage-parts.ts'
import type { Behaviour, Call, Further, Role, SystemNames } from '../outages/outage-system.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** The work of a service in one call of a day like any other. Undefined: the usual lines. */
export function usualBehaviour(role: Role, { share, caller }: Call): Behaviour | undefined {
  const odd = ODDITIES[role]?.filter(({ of }) => of === undefined || of === caller) ?? []
  let from = 0
  for (const { part, behaviour } of odd) {
    if (share >= from && share < from + part) return behaviour
    from += part
  }
  return undefined
}

interface Oddity {
  /** Share of the calls. */
  readonly part: number
  readonly behaviour: Behaviour
  /** Calls of that caller alone. */
  readonly of?: Role
}

const says = (part: number, ...lines: NonNullable<Behaviour['lines']>): Oddity => ({ part, behaviour: { lines } })

const ODDITIES: Readonly<Partial<Record<Role, readonly Oddity[]>>> = {
  web: [
    says(0.02, warn('GET /apple-touch-icon.png answered 404')),
    says(0.01, info('ErrorHandler registered for /api/checkout, no errors so far')),
    says(0.004, warn('session cookie is too old, a new one was made')),
  ],
  orders: [
    says(0.01, info('idempotency check: 0 errors, error_count=0, failed=0')),
    { part: 0.002, behaviour: { lines: [warn('validation failed: quantity must be positive')], status: 400 } },
    says(0.001, error('confirmation mail was not sent, it stays in the outbox', 'SMTPException: 451 try again later')),
  ],
  stock: [
    says(0.03, info('sync finished: 0 errors, 0 warnings, failed=0')),
    says(0.01, info('no failures in the last 100 reservations')),
    says(0.004, warn('optimistic lock was lost, the reservation is tried again'), info('retry succeeded after 1 error')),
  ],
  payments: [
    says(0.004, warn('charge timed out after 2000 ms, trying again'), info('charge succeeded on attempt 2')),
    says(0.01, warn('card was declined: insufficient funds')),
    says(0.001, error('receipt could not be printed', 'NullPointerException: receipt.address is null')),
  ],
  users: [
    { part: 0.03, of: 'edge', behaviour: { lines: [warn('login failed: wrong password')], status: 401 } },
    { part: 0.02, of: 'edge', behaviour: { lines: [warn('member 88123 is not known')], status: 404 } },
    says(0.01, info('0 failed logins in the last minute, no error')),
  ],
  search: [
    says(0.006, { level: 'info', text: 'the client went away before the answer was written', thrown: 'java.io.IOException: Broken pipe' }),
    says(0.01, warn('query took 1204 ms, longer than 1000 ms')),
    says(0.01, info('index healthy: failed shards 0, errors none')),
  ],
  prices: [
    says(0.03, info('価格表を更新しました: エラー 0 件')),
    says(0.006, warn('Zeitüberschreitung beim Lesen der Wechselkurse, neuer Versuch'), info('Kurse gelesen, keine Fehler')),
    says(0.004, warn('délai dépassé, nouvelle tentative dans 200 ms')),
  ],
}

/** Something that a system does at a time of its own; times in ms from its start. */
export interface Habit {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  /** With times from the start of the habit. */
  readonly lines: (system: SystemNames) => readonly Further[]
  /** The work of services meanwhile; `sinceMs` from its start. */
  readonly behave?: (role: Role, call: Call, sinceMs: number) => Behaviour | undefined
  /** Requests by the usual. */
  readonly load?: number
}

const times = (count: number, stepMs: number, make: (atMs: number, at: number) => Further | readonly Further[]): readonly Further[] =>
  Array.from({ length: count }, (_, at) => make(at * stepMs, at)).flat()

const habit = (
  name: string,
  fromMs: number,
  lengthMs: number,
  lines: Habit['lines'],
  also: Pick<Habit, 'behave' | 'load'> = {},
): Habit => ({ ...{ name, fromMs, toMs: fromMs + lengthMs, lines }, ...also })

export const hourlyCleanup = (fromMs: number, random: () => number): Habit =>
  habit('hourly job with warnings', fromMs, MINUTE_MS, () => [
    { atMs: 0, role: 'worker', level: 'info', line: info('job cleanup-carts started') },
    ...times(3 + Math.floor(random() * 6), 900, (atMs, at) => ({
      ...{ atMs: atMs + 700, role: 'worker' as const, level: 'warn' as const },
      line: warn(`cart ${8_812 + at} has no owner, skipped`),
    })),
    { atMs: 9_000, role: 'worker', level: 'info', line: info('job cleanup-carts finished: 812 removed, 0 errors') },
  ])

export const hourlyImport = (fromMs: number): Habit =>
  habit('hourly job with errors that nobody minds', fromMs, MINUTE_MS, () =>
    times(4, 2_500, atMs => ({
      ...{ atMs, role: 'prices', level: 'error' },
      line: error('supplier feed has a row that cannot be read, it is left out', 'ValueError: invalid literal for int'),
    })),
  )

export const certificateCheck = (fromMs: number): Habit =>
  habit('certificates are looked at', fromMs, MINUTE_MS, () => [
    { atMs: 0, role: 'users', level: 'info', line: info('TLS certificate of api.acme.example is valid for 61 days, nothing to do') },
  ])

export const certificateSoon = (fromMs: number): Habit =>
  habit('a certificate is to be renewed', fromMs, MINUTE_MS, () =>
    times(3, 4_000, (atMs, at) => ({
      ...{ atMs, role: 'web', level: 'warn' },
      line: warn(`TLS certificate of www${at}.acme.example expires in 27 days, renewal is planned`),
    })),
  )

export const backup = (fromMs: number): Habit =>
  habit(
    'nightly backup',
    fromMs,
    4 * MINUTE_MS,
    () => [
      { atMs: 0, role: 'worker', level: 'info', line: info('backup started') },
      ...times(40, 5_000, (atMs, at) => ({
        ...{ atMs, role: 'worker' as const, level: 'warn' as const },
        line: warn(`file changed while it was read: /data/orders_${at}.parquet`),
      })),
      ...times(12, 15_000, (atMs, at) =>
        postgres(atMs, `LOG:  duration: ${4_100 + at}.118 ms  statement: COPY public.orders_${at} TO stdout`),
      ),
      { atMs: 230_000, role: 'worker', level: 'info', line: info('backup finished: 0 errors') },
    ],
    { behave: (role, { share }) => (role === 'database' ? { slowMs: 60 + share * 200 } : undefined) },
  )

export const closeOfBooks = (fromMs: number): Habit =>
  habit('nightly batch', fromMs, 12 * MINUTE_MS, () => [
    { atMs: 0, role: 'worker', level: 'info', line: info('job close-books started') },
    ...times(900, 750, (atMs, at) => ({ atMs, role: 'worker', level: 'info', line: info(`ledger line ${at} of 900 closed`) })),
    ...times(25, 20_000, (atMs, at) => ({
      ...{ atMs, role: 'worker' as const, level: 'warn' as const },
      line: warn(`ledger line ${at} has no counterpart, skipped`),
    })),
    ...times(4, 40_000, (atMs, at) => ({
      ...{ atMs: atMs + 300_000, role: 'worker' as const, level: 'error' as const },
      line: error(`payment ${at} could not be reconciled: amounts differ by 0.01`),
    })),
  ])

export const release = (fromMs: number, role: Role, version: number): Habit =>
  habit(
    'rolling deployment',
    fromMs,
    3 * MINUTE_MS,
    ({ of, pod }) => [
      event(0, {
        ...{ kind: 'Deployment', pod: of(role), reason: 'ScalingReplicaSet', isWarning: false },
        message: `Scaled up replica set ${pod(role).slice(0, -6)} to 1`,
      }),
      ...[0, 70_000].flatMap(atMs => [
        event(atMs + 1_000, { pod: pod(role), reason: 'Killing', message: 'Stopping container app', isWarning: false }),
        event(atMs + 9_000, { pod: pod(role), reason: 'Unhealthy', message: 'Readiness probe failed: connection refused' }),
        { atMs: atMs + 1_500, role, level: 'info' as const, line: info('received SIGTERM, shutting down gracefully') },
        { atMs: atMs + 1_700, role, level: 'info' as const, line: info('waiting for 3 connections to drain') },
        { atMs: atMs + 2_300, role, level: 'warn' as const, line: warn('connection reset by peer while draining') },
        { atMs: atMs + 5_000, role, level: 'info' as const, line: info(`starting up, version 4.${version}.0, ErrorHandler registered`) },
        { atMs: atMs + 6_000, role, level: 'warn' as const, line: warn(`option legacy.${version}.mode is deprecated and will be removed`) },
        { atMs: atMs + 7_000, role, level: 'info' as const, line: info('listening on port 8080') },
        postgres(atMs + 2_000, 'LOG:  could not receive data from client: Connection reset by peer'),
        postgres(atMs + 2_100, 'LOG:  could not receive data from client: Connection reset by peer'),
      ]),
    ],
    {
      behave: (other, { share }, sinceMs) => {
        if (other !== role) return undefined
        // Calls of some seconds meet the replica that goes.
        const inStop = sinceMs % 70_000
        if (sinceMs < 140_000 && inStop > 2_000 && inStop < 5_000 && share < 0.5) return { unreachable: 'refused' }
        return sinceMs > 80_000 ? { lines: [info(`rule set v${version} applied`)] } : undefined
      },
    },
  )

export const debugging = (fromMs: number): Habit =>
  habit(
    'debug lines are switched on',
    fromMs,
    20 * MINUTE_MS,
    () => [{ atMs: 0, role: 'stock', level: 'info', line: info('log level changed from info to debug') }],
    {
      behave: (role, { share }) =>
        role === 'stock'
          ? {
              lines: [
                { level: 'debug', text: `acquired connection ${Math.floor(share * 20)} of 20` },
                { level: 'debug', text: 'last error was null, retry count 0' },
              ],
            }
          : undefined,
    },
  )

export const scanner = (fromMs: number): Habit =>
  habit('a stranger looks for pages', fromMs, 2 * MINUTE_MS, () =>
    times(200, 500, (atMs, at) => [
      {
        ...{ atMs, role: 'edge' as const, level: 'none' as const },
        line: `45.9.20.11 - - [03/Mar/2026:04:00:${String(at % 60).padStart(2, '0')} +0000] "GET /wp-admin/${at}.php HTTP/1.1" 404 153 "-" "zgrab/0.x"`,
      },
      { atMs: atMs + 2, role: 'web' as const, level: 'warn' as const, line: warn(`no page /wp-admin/${at}.php, answered 404`) },
    ]),
  )

export const wrongPasswords = (fromMs: number): Habit =>
  habit('a stranger tries passwords', fromMs, 3 * MINUTE_MS, () =>
    times(90, 2_000, (atMs, at) => ({
      ...{ atMs, role: 'users', level: 'warn' },
      line: warn(`login failed for user ${at}: bad credentials`),
    })),
  )

export const busyHour = (fromMs: number): Habit =>
  habit(
    'more pods for more load',
    fromMs,
    25 * MINUTE_MS,
    ({ of, pod }) => [
      event(60_000, {
        ...{ kind: 'HorizontalPodAutoscaler', pod: of('prices'), reason: 'SuccessfulRescale', isWarning: false },
        message: 'New size: 4; reason: cpu resource utilization (percentage of request) above target',
      }),
      event(61_000, {
        ...{ kind: 'Deployment', pod: of('prices'), reason: 'ScalingReplicaSet', isWarning: false },
        message: `Scaled up replica set ${pod('prices').slice(0, -6)} to 4`,
      }),
      { atMs: 70_000, role: 'prices', level: 'info', line: info('starting up, version 4.12.0') },
      { atMs: 72_000, role: 'prices', level: 'info', line: info('listening on port 8080') },
    ],
    { load: 1.8 },
  )

export const slowCollection = (fromMs: number): Habit =>
  habit('a long pause of a collector', fromMs, MINUTE_MS, () => [
    {
      ...{ atMs: 0, role: 'stock', level: 'info' },
      line: '[2026-03-03T04:00:00.118+0000][info][gc,pause] GC(412) Pause Full (System.gc()) 812M->403M(2048M) 412.118ms',
    },
  ])

export const drainOfNode = (fromMs: number): Habit =>
  habit('a node is emptied', fromMs, MINUTE_MS, ({ pod }) => [
    klog(2_000, 'I', 'kubelet_node_status.go:736] "Recording event message for node" event="NodeNotSchedulable"'),
    event(8_000, { pod: pod('prices'), reason: 'Killing', message: 'Stopping container app', isWarning: false }),
    { atMs: 9_000, role: 'prices', level: 'info', line: info('received SIGTERM, shutting down gracefully') },
    { atMs: 14_000, role: 'prices', level: 'info', line: info('starting up, version 4.12.0') },
    event(15_000, { pod: pod('prices'), reason: 'FailedScheduling', message: '0/3 nodes are available: 1 node(s) were unschedulable.' }),
  ])

/** A third party that answers slowly, or not at all, for some minutes; tries that follow succeed. */
export const weakThirdParty = (fromMs: number): Habit =>
  habit('a third party is weak, tries again succeed', fromMs, 6 * MINUTE_MS, () => [], {
    behave: (role, { share }) =>
      role === 'payments' && share < 0.15
        ? { slowMs: 800, lines: [warn('acquirer answered 503, trying again in 500 ms'), info('acquirer answered 200 on attempt 2')] }
        : undefined,
  })

/** Lines that come at any time, without a request. */
export const backgroundLines = (lengthMs: number, random: () => number): readonly Further[] => {
  const all: Further[] = []
  const every = (meanMs: number, make: (atMs: number) => Further) => {
    for (let atMs = random() * meanMs; atMs < lengthMs; atMs += meanMs * (0.5 + random())) all.push(make(atMs))
  }
  every(10 * SECOND_MS, atMs => ({
    ...{ atMs, role: 'edge', level: 'none' },
    line: '10.1.0.1 - - [03/Mar/2026:04:00:11 +0000] "GET /healthz HTTP/1.1" 200 2 "-" "kube-probe/1.29"',
  }))
  every(15 * SECOND_MS, atMs => ({
    ...{ atMs, role: 'stock', level: 'info' },
    line: `[2026-03-03T04:00:00.118+0000][info][gc] GC(${Math.floor(random() * 900)}) Pause Young (Normal) (G1 Evacuation Pause) 512M->403M(2048M) ${(8 + random() * 20).toFixed(3)}ms`,
  }))
  every(25 * SECOND_MS, atMs => ({
    ...{ atMs, role: 'dns', level: 'none' },
    line: `[INFO] 10.1.0.4:41233 - 8812 "AAAA IN api.acme.example.prod.svc.cluster.local. udp 62 false 512" NXDOMAIN qr,aa,rd 155 0.0001s`,
  }))
  every(30 * MINUTE_MS, atMs => ({
    ...{ atMs, role: 'dns', level: 'none' },
    line: '[ERROR] plugin/errors: 2 example.internal. A: read udp 10.1.0.5:41233->10.0.0.2:53: i/o timeout',
  }))
  every(60 * MINUTE_MS, atMs => ({
    ...{ atMs, role: 'broker', level: 'none' },
    line: '[2026-03-03 04:00:00,118] WARN [SocketServer listenerType=ZK_BROKER, nodeId=1] Unexpected error from /10.1.0.17; closing connection (org.apache.kafka.common.network.Selector)',
  }))
  every(20 * MINUTE_MS, atMs =>
    postgres(Math.floor(atMs), 'ERROR:  duplicate key value violates unique constraint "orders_idempotency_key"'),
  )
  every(90 * MINUTE_MS, atMs =>
    event(atMs, {
      ...{ pod: 'prices-6c8d7f9b4-x2v4p', reason: 'Unhealthy' },
      message: 'Readiness probe failed: context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    }),
  )
  return all
}
