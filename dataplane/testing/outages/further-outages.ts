/** Further outages, and times without one, with structured loggers: written before the rules had seen any of them. */
import {
  error,
  event,
  every,
  failing,
  info,
  type KnownOutage,
  kernel,
  klog,
  only,
  postgres,
  shareOf,
  starts,
  warn,
} from './outage-parts.ts'
import { OUTAGE_AT_MS, type Outage, type Role, stamp } from './outage-system.ts'

const structured = (outage: Outage): Outage => ({ ...outage, styles: 'structured' })
const at = (atMs: number) => new Date(OUTAGE_AT_MS + atMs).toISOString()
const APPLICATIONS: readonly Role[] = ['web', 'orders', 'stock', 'prices', 'payments', 'users', 'search', 'worker']

export const FURTHER_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  // Hangs that nobody names.
  'end of the path hangs: profiles': { culprits: ['users'], outage: structured({ behave: only('users', () => ({ hangs: true })) }) },
  'end of the path hangs: prices': {
    culprits: ['prices'],
    outage: structured({ behave: only('prices', shareOf(0.8, { hangs: true })) }),
  },
  'end of the path hangs: the database': {
    culprits: ['database'],
    outage: structured({ behave: only('database', () => ({ mute: true })) }),
  },
  'middle of the path hangs': { culprits: ['payments'], outage: structured({ behave: only('payments', () => ({ hangs: true })) }) },
  // Pauses at INFO.
  'pauses of a collector: JVM': {
    culprits: ['stock'],
    says: /pause|safepoint|gc/i,
    outage: structured({
      behave: only('stock', ({ share }) => (share < 0.6 ? { slowMs: 6_000 } : { slowMs: 1_500 })),
      also: () =>
        every(1_000, 7_000, (atMs, nth) => ({
          atMs,
          role: 'stock',
          level: 'info',
          line: `[${at(atMs)}][info][gc,pause] GC(${388 + nth}) Pause Full (Ergonomics) 2039M->2031M(2048M) ${3_900 + nth * 90}.118ms`,
        })),
    }),
  },
  'pauses of a collector: Node': {
    culprits: ['users'],
    says: /mark-sweep|mark-compact|allocation failure/i,
    outage: structured({
      behave: only('users', ({ share }) => (share < 0.6 ? { slowMs: 6_000 } : { slowMs: 1_500 })),
      also: () =>
        every(1_000, 6_000, (atMs, nth) => ({
          atMs,
          role: 'users',
          level: 'info',
          line: `[1:0x5581c0] ${182_341 + atMs} ms: Mark-sweep 2047.1 (2081.2) -> 2046.3 (2081.4) MB, ${3_921 + nth}.3 / 0.0 ms  (average mu = 0.081, current mu = 0.012) allocation failure; scavenge might not succeed`,
        })),
    }),
  },
  'pauses of a collector, by a monitor': {
    culprits: ['payments'],
    says: /pause/i,
    outage: structured({
      behave: only('payments', ({ share }) => (share < 0.6 ? { slowMs: 6_000 } : { slowMs: 1_500 })),
      also: () =>
        every(1_000, 8_000, (atMs, nth) => ({
          atMs,
          role: 'payments',
          level: 'info',
          line: info(`Detected pause in JVM or host machine (eg GC): pause of approximately ${4_231 + nth * 7}ms`),
        })),
    }),
  },
  // Floods of refusals.
  'secret rotated at one end: 401 at WARN alone': {
    culprits: ['prices', 'orders'],
    says: /signature|401|key/i,
    outage: structured({
      behave: only('prices', ({ caller }) =>
        caller === 'orders' ? { lines: [warn('request refused: invalid signature for key id "2025-11"')], status: 401 } : undefined,
      ),
      also: () => [{ atMs: -6_000, role: 'prices', level: 'info', line: info('signing keys reloaded, active key id is 2026-03') }],
    }),
  },
  'secret rotated: 400 from the end that gives tokens': {
    culprits: ['users', 'payments'],
    says: /invalid_client|400|secret/i,
    outage: structured({
      behave: only('users', ({ caller }) =>
        caller === 'payments'
          ? { lines: [warn('token request answered 400 invalid_client: client secret does not match')], status: 400 }
          : undefined,
      ),
      also: () => starts('payments', -8_000),
    }),
  },
  'clock skew: refusals at WARN': {
    culprits: ['stock', 'orders', 'kernel'],
    says: /clock|skew|timestamp|future/i,
    outage: structured({
      behave: only('stock', () => ({
        lines: [warn('request dropped: timestamp 2026-03-03T04:06:12Z is more than 300 s ahead of server time')],
        status: 403,
      })),
      also: () => [
        { atMs: -9_000, role: 'kernel', level: 'none', line: 'chronyd[712]: Forward time jump detected!' },
        { atMs: -8_500, role: 'kernel', level: 'none', line: "chronyd[712]: Can't synchronise: no selectable sources" },
      ],
    }),
  },
  // Fifteen more.
  'DNS: a client keeps the old address after a move': {
    culprits: ['stock', 'database'],
    says: /EHOSTUNREACH|route|timed? ?out|ETIMEDOUT/i,
    outage: structured({
      behave: (role, { caller, share }) =>
        role === 'stock' && caller === 'orders' && share < 0.9
          ? {
              slowMs: 3_000,
              ...failing('Error: connect EHOSTUNREACH 10.1.4.9:5432', 'could not get a connection for the reservation'),
            }
          : undefined,
      also: () => [
        postgres(-40_000, 'LOG:  received promote request'),
        postgres(-39_000, 'LOG:  database system is ready to accept connections'),
      ],
    }),
  },
  'certificate expired on one of the replicas': {
    culprits: ['payments'],
    says: /certificate|NotTimeValid/i,
    outage: structured({ behave: only('payments', ({ replica }) => (replica === 1 ? { unreachable: 'certificate' } : undefined)) }),
  },
  'slow disk on one node': {
    culprits: ['database', 'kernel'],
    says: /I\/O|blocked|fsync|sync|checkpoint/i,
    outage: structured({
      behave: only('database', ({ share }) => ({
        slowMs: 2_500 + share * 3_000,
        ...(share < 0.3 && {
          lines: [
            {
              level: 'info' as const,
              text: `2026-03-03 04:00:04.118 UTC [812] LOG:  duration: ${(2_500 + share * 3_000).toFixed(3)} ms  statement: COMMIT`,
            },
          ],
        }),
      })),
      also: () => [
        kernel(2_000, 'INFO: task jbd2/nvme1n1-8:412 blocked for more than 120 seconds.'),
        kernel(31_000, 'nvme nvme1: I/O 118 QID 4 timeout, completion polled'),
        postgres(
          44_000,
          'LOG:  checkpoint complete: wrote 812 buffers (5.0%); write=38.118 s, sync=29.711 s, total=68.104 s; sync files=41, longest=11.902 s',
        ),
      ],
    }),
  },
  'configuration that only one region gets': {
    culprits: ['users'],
    says: /shard|eu-west/i,
    outage: structured({
      behave: only('users', ({ replica }) =>
        replica === 0 ? failing('KeyError: shard "eu-west-9" is not in the routing table', 'profile store could not be chosen') : undefined,
      ),
      also: () => [{ atMs: -5_000, role: 'users', level: 'info', line: info('configuration applied from config-service, revision 8812') }],
    }),
  },
  'feature flag makes a service slow': {
    culprits: ['prices'],
    says: /flag/i,
    outage: structured({
      behave: only('prices', ({ share }) => ({ slowMs: share < 0.8 ? 2_600 : 100 })),
      also: () => [{ atMs: -4_000, role: 'prices', level: 'info', line: info('feature flag personalised-prices enabled for 100 percent') }],
    }),
  },
  'poison message goes round and round': {
    culprits: ['worker'],
    says: /Unexpected token|JSON|redeliver|decod|parse/i,
    outage: structured({
      consumes: share => (share < 0.2 ? undefined : { mute: true }),
      also: () =>
        every(2_000, 5_000, (atMs, nth) => ({
          atMs,
          role: 'worker',
          level: 'warn',
          line: {
            level: 'warn',
            text: `message 88123 was not handled, redelivered ${nth + 1} times`,
            thrown: 'SyntaxError: Unexpected token < in JSON at position 0',
          },
        })),
    }),
  },
  'threads used up': {
    culprits: ['orders'],
    says: /thread|busy|executor/i,
    outage: structured({
      behave: only('orders', shareOf(0.75, { slowMs: 4_500, status: 503 })),
      also: () =>
        every(1_000, 6_000, atMs => ({
          atMs,
          role: 'orders',
          level: 'warn',
          line: warn('all 200 threads of the request executor are busy, 311 requests wait in the queue'),
        })),
    }),
  },
  'failover of the database': {
    culprits: ['database'],
    says: /terminat|starting up|shutdown|shut down|administrator/i,
    outage: structured({
      behave: only('database', ({ minute }) =>
        minute < 0.7
          ? {
              status: 500,
              tells: minute < 0.15 ? 'terminating connection due to administrator command' : 'the database system is starting up',
            }
          : undefined,
      ),
      also: () => [
        postgres(-900, 'LOG:  received fast shutdown request'),
        postgres(9_000, 'LOG:  starting PostgreSQL 16.2 on x86_64-pc-linux-gnu'),
        postgres(42_000, 'LOG:  database system is ready to accept connections'),
      ],
    }),
  },
  'pool leaks after a release': {
    culprits: ['prices'],
    says: /pool|connection/i,
    outage: structured({
      behave: only('prices', ({ share, minute }) =>
        share < 0.2 + minute * 0.4
          ? { slowMs: 3_000, ...failing('could not get a resource from the pool: timeout waiting for idle object', 'quote not read') }
          : undefined,
      ),
      also: ({ of, pod }) => [
        event(-95_000, {
          ...{ kind: 'Deployment', pod: of('prices'), reason: 'ScalingReplicaSet', isWarning: false },
          message: `Scaled up replica set ${pod('prices').slice(0, -6)} to 2`,
        }),
        ...starts('prices', -80_000),
      ],
    }),
  },
  'storm of retries upon a limit': {
    culprits: ['payments'],
    says: /429|limit/i,
    outage: structured({
      tries: 4,
      behave: only(
        'payments',
        shareOf(0.7, { lines: [warn('rate limit of 50 requests per second reached, request refused')], status: 429 }),
      ),
    }),
  },
  'stampede upon a cache': {
    culprits: ['cache', 'prices'],
    says: /miss|rebuild|expired/i,
    outage: structured({
      behave: only('prices', ({ share }) => ({
        slowMs: share < 0.9 ? 3_200 : 200,
        lines: [info('cache miss for tariff table, rebuilding it from 41233 rows')],
      })),
    }),
  },
  'noisy neighbour': {
    culprits: ['users', 'search'],
    outage: structured({
      behave: only('users', ({ replica, share }) => (replica === 0 ? { slowMs: 1_200 + share * 2_000 } : undefined)),
      also: () =>
        every(-2_000, 900, (atMs, nth) => ({
          ...{ atMs, role: 'search', level: 'info' },
          line: info(`reindexing segment ${nth} of 170 with 16 workers`),
        })),
    }),
  },
  'killed for memory again and again': {
    culprits: ['search'],
    says: /OOMKilled|memory|Back-off|restart/i,
    outage: structured({
      behave: only('search', ({ minute }) => (minute % 0.6 > 0.2 ? { unreachable: 'refused' } : undefined)),
      also: ({ pod }) =>
        every(12_000, 36_000, atMs => [
          event(atMs, { pod: pod('search'), reason: 'OOMKilling', message: 'Memory cgroup out of memory: Killed process 881 (node)' }),
          event(atMs + 4_000, { pod: pod('search'), reason: 'BackOff', message: 'Back-off restarting failed container app in pod' }),
          ...starts('search', atMs + 22_000),
        ]),
    }),
  },
  'licence expired': {
    culprits: ['search'],
    says: /licen[cs]e/i,
    outage: structured({
      behave: only('search', () => failing('LicenseException: current license is non-compliant for [search]: it expired on 2026-03-03')),
    }),
  },
  'token of a third party expired': {
    culprits: ['payments'],
    says: /401|expired|token/i,
    outage: structured({
      behave: only('payments', () =>
        failing('StripeAuthenticationError: 401 from https://api.cards.example/v1/charges: Expired API Key provided', 'charge failed'),
      ),
    }),
  },
  'clock was stepped': {
    culprits: ['users', 'kernel'],
    says: /clock|step|expired|time/i,
    outage: structured({
      behave: only('users', shareOf(0.8, { lines: [warn('session refused: it expired 3 599 s ago')], status: 401 })),
      also: () => [{ atMs: -3_000, role: 'kernel', level: 'none', line: 'chronyd[712]: System clock was stepped by 3600.004118 seconds' }],
    }),
  },

  // Nothing is wrong.
  'nothing: releases of all services, one by one': {
    culprits: [],
    outage: structured({
      also: () =>
        APPLICATIONS.flatMap((role, nth) => [
          { atMs: -20_000 + nth * 15_000, role, level: 'info' as const, line: info('received SIGTERM, shutting down gracefully') },
          ...starts(role, -16_000 + nth * 15_000),
        ]),
    }),
  },
  'nothing: a batch job': {
    culprits: [],
    outage: structured({
      also: () => [
        { atMs: 1_000, role: 'worker', level: 'info', line: info('job close-books started for 2026-03-02') },
        ...every(2_000, 700, (atMs, nth) => ({
          atMs,
          role: 'worker' as const,
          level: 'info' as const,
          line: info(`ledger line ${nth} of 8812 closed`),
        })),
      ],
    }),
  },
  'nothing: twice the load': { culprits: [], outage: structured({ load: 2 }) },
  'nothing: three times the load': { culprits: [], outage: structured({ load: 3 }) },
  'nothing: debug lines are switched on': {
    culprits: [],
    outage: structured({
      behave: only('stock', ({ share }) => ({
        lines: [
          { level: 'debug', text: `acquired connection ${Math.floor(share * 20)} of 20` },
          { level: 'debug', text: 'SELECT id, sku, held FROM stock WHERE sku = ANY($1)' },
          { level: 'debug', text: `row lock taken after ${(share * 3).toFixed(1)} ms` },
        ],
      })),
      also: () => [{ atMs: -1_000, role: 'stock', level: 'info', line: info('log level changed from info to debug') }],
    }),
  },
  'nothing: a job that fails as it always does': {
    culprits: [],
    outage: structured({
      also: () =>
        [-700_000, -550_000, -400_000, -250_000, -100_000, 50_000].map(atMs => ({
          ...{ atMs, role: 'users', level: 'error' },
          line: error('avatar 88 could not be scaled', 'ImageError: unsupported marker type 0x23'),
        })),
    }),
  },
  'nothing: more pods for more load': {
    culprits: [],
    outage: structured({
      load: 1.6,
      also: ({ of, pod }) => [
        event(5_000, {
          ...{ kind: 'HorizontalPodAutoscaler', pod: of('prices'), reason: 'SuccessfulRescale', isWarning: false },
          message: 'New size: 4; reason: cpu resource utilization (percentage of request) above target',
        }),
        event(6_000, {
          ...{ kind: 'Deployment', pod: of('prices'), reason: 'ScalingReplicaSet', isWarning: false },
          message: `Scaled up replica set ${pod('prices').slice(0, -6)} to 4`,
        }),
        ...starts('prices', 18_000),
        ...starts('prices', 19_000),
      ],
    }),
  },
  'nothing: a bot looks for pages': {
    culprits: [],
    outage: structured({
      also: () =>
        every(1_000, 350, (atMs, nth) => ({
          ...{ atMs, role: 'edge', level: 'none' },
          line: `45.9.20.11 - - [03/Mar/2026:04:00:${String(nth % 60).padStart(2, '0')} +0000] "GET /wp-admin/${nth}.php HTTP/1.1" 404 153 "-" "zgrab/0.x"`,
        })),
    }),
  },
  'nothing: a node is emptied': {
    culprits: [],
    outage: structured({
      also: ({ pod }) => [
        klog(2_000, 'I', 'kubelet_node_status.go:736] "Recording event message for node" event="NodeNotSchedulable"'),
        event(8_000, { pod: pod('prices'), reason: 'Killing', message: 'Stopping container app', isWarning: false }),
        ...starts('prices', 14_000),
        event(9_000, { pod: pod('users'), reason: 'Killing', message: 'Stopping container app', isWarning: false }),
        ...starts('users', 17_000),
      ],
    }),
  },
  'nothing: other words after a release': {
    culprits: [],
    outage: structured({
      behave: only('prices', ({ share }) => ({ lines: [info(`tariff ${Math.floor(share * 900)} chosen by rule v2`)] })),
      also: () => starts('prices', -12_000),
    }),
  },
  'nothing: the database tidies up': {
    culprits: [],
    outage: structured({
      also: () =>
        every(3_000, 4_000, (atMs, nth) => ({
          ...{ atMs, role: 'database', level: 'none' },
          line: `${stamp(OUTAGE_AT_MS + atMs)} UTC [31] LOG:  automatic vacuum of table "shop.public.orders_${nth}": index scans: 1`,
        })),
    }),
  },
}
