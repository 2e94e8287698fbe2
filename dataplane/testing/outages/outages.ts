/** Outages as they are known from real companies, and times without one: what each service does in them, and whose fault it is. */

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
import type { Further } from './outage-system.ts'
import { OUTAGE_AT_MS, stamp } from './outage-system.ts'

export const OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'wrong configuration: answers 401 to all callers': {
    culprits: ['stock'],
    says: /401|Unauthorized|token|audience/i,
    outage: {
      behave: only('stock', () => ({
        lines: [warn('rejected request: token audience "internal" does not match "internal-v2"')],
        status: 401,
      })),
      also: () => [
        { atMs: -4_000, role: 'stock', level: 'info', line: info('configuration reloaded from /etc/config/app.yaml, 3 keys changed') },
      ],
    },
  },
  'wrong configuration: answers 404 without a word': {
    culprits: ['prices'],
    outage: {
      behave: only('prices', () => ({ lines: [info('no route for POST /internal/prices')], status: 404 })),
      also: () => [{ atMs: -2_000, role: 'prices', level: 'info', line: info('configuration reloaded, base path is now /v2') }],
    },
  },
  'wrong configuration: a caller asks for a host that is not there': {
    culprits: ['payments', 'users'],
    outage: {
      behave: (role, { caller }) => (role === 'users' && caller === 'payments' ? { unreachable: 'unknown name' } : undefined),
      also: () => starts('payments', -6_000),
    },
  },
  'certificate of a service expired': {
    culprits: ['payments'],
    says: /certificate|NotTimeValid/i,
    outage: {
      behave: only('payments', () => ({ unreachable: 'certificate' })),
      also: () =>
        every(2_000, 7_000, atMs => ({
          atMs,
          role: 'payments',
          level: 'error',
          line: error('TLS handshake error from 10.1.4.2:38114: remote error: tls: expired certificate'),
        })),
    },
  },
  'certificate of a service expired, which says nothing': {
    culprits: ['users'],
    says: /certificate|NotTimeValid/i,
    outage: { behave: only('users', () => ({ unreachable: 'certificate' })) },
  },
  'DNS does not answer': {
    culprits: ['dns'],
    outage: {
      behave: (role, { share }) =>
        ['stock', 'prices', 'users'].includes(role) && share < 0.6 ? { unreachable: 'unknown name' } : undefined,
      also: ({ of }) =>
        every(1_000, 4_000, atMs => ({
          atMs,
          role: 'dns',
          level: 'none',
          line: `[ERROR] plugin/errors: 2 ${of('stock')}.prod.svc.cluster.local. A: read udp 10.1.0.5:41233->10.0.0.2:53: i/o timeout`,
        })),
    },
  },
  'DNS does not answer, and says nothing': {
    culprits: ['orders', 'payments', 'dns'],
    says: /resolv|name|getaddrinfo|lookup|temporar/i,
    outage: {
      behave: (role, { share }) => (['stock', 'users'].includes(role) && share < 0.7 ? { unreachable: 'unknown name' } : undefined),
    },
  },
  'pool of connections used up by a leak': {
    culprits: ['stock'],
    says: /pool|connection/i,
    outage: {
      behave: only(
        'stock',
        shareOf(0.8, {
          slowMs: 3_000,
          ...failing(
            'java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=17)',
            'could not open JPA EntityManager',
          ),
        }),
      ),
      also: () => [
        {
          atMs: -30_000,
          role: 'stock',
          level: 'warn',
          line: warn('Apparent connection leak detected for org.postgresql.jdbc.PgConnection@5e1f on thread http-4'),
        },
      ],
    },
  },
  'database slow for want of an index': {
    culprits: ['database'],
    says: /duration|SELECT|statement/i,
    outage: {
      behave: (role, { caller, share }) =>
        role === 'database' && caller === 'stock'
          ? {
              slowMs: 3_500,
              lines: [
                {
                  level: 'info',
                  text: `2026-03-03 04:00:04.118 UTC [812] LOG:  duration: ${(3_000 + share * 2_000).toFixed(3)} ms  statement: SELECT * FROM reservations WHERE sku = '4711' ORDER BY created_at`,
                },
              ],
            }
          : undefined,
      also: () => [{ atMs: -40_000, role: 'stock', level: 'info', line: info('migration V42__drop_unused_indexes applied') }],
    },
  },
  'statements run into their timeout behind a lock of a migration': {
    culprits: ['database', 'stock'],
    says: /lock|timeout/i,
    outage: {
      behave: (role, { caller, share }) =>
        role === 'database' && caller === 'stock' && share < 0.9
          ? {
              slowMs: 2_000,
              status: 500,
              tells: 'canceling statement due to lock timeout',
              lines: [
                {
                  level: 'error',
                  text: `2026-03-03 04:00:04.118 UTC [812] ERROR:  canceling statement due to lock timeout\nSTATEMENT:  UPDATE stock SET held = held + 3 WHERE sku = '4711'`,
                },
              ],
            }
          : undefined,
      also: () => [
        postgres(1_000, 'LOG:  process 812 still waiting for AccessExclusiveLock on relation 16412 of database 16384 after 1000.132 ms'),
      ],
    },
  },
  'deadlocks in the database': {
    culprits: ['database', 'payments'],
    says: /deadlock/i,
    outage: {
      behave: (role, { caller, share }) =>
        role === 'database' && caller === 'payments' && share < 0.5
          ? {
              status: 500,
              tells: 'deadlock detected',
              lines: [
                {
                  level: 'error',
                  text: '2026-03-03 04:00:04.118 UTC [812] ERROR:  deadlock detected\nDETAIL:  Process 812 waits for ShareLock on transaction 9917; blocked by process 815.\nHINT:  See server log for query details.',
                },
              ],
            }
          : undefined,
    },
  },
  'disk of the database is full': {
    culprits: ['database'],
    says: /no space left/i,
    outage: {
      behave: only('database', () => ({
        status: 500,
        tells: 'could not extend file "base/16384/16401": No space left on device',
        lines: [
          {
            level: 'error',
            text: '2026-03-03 04:00:04.118 UTC [812] ERROR:  could not extend file "base/16384/16401": No space left on device\nHINT:  Check free disk space.',
          },
        ],
      })),
    },
  },
  'disk of one node is full': {
    culprits: ['kubelet', 'prices', 'events', 'kernel'],
    says: /disk|space|ephemeral|evict/i,
    outage: {
      behave: (role, { share }) =>
        role === 'prices' && share < 0.5 ? failing("OSError: [Errno 28] No space left on device: '/tmp/quotes-1182.json'") : undefined,
      also: ({ pod }) => [
        klog(2_000, 'W', 'eviction_manager.go:344] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"'),
        klog(9_000, 'E', `eviction_manager.go:614] "Eviction manager: pod failed to evict" pod="prod/${pod('prices')}"`),
        event(4_000, {
          pod: pod('prices'),
          reason: 'Evicted',
          message: 'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi.',
        }),
      ],
    },
  },
  'consumer of a queue is stuck': {
    culprits: ['worker'],
    outage: {
      consumes: () => ({ mute: true }),
      also: ({ of }) =>
        every(5_000, 20_000, (atMs, at) => ({
          atMs,
          role: 'lag',
          level: 'warn',
          line: `group=${of('worker')} topic=orders.placed lag=${40 + at * 30} status=STALLED`,
        })),
    },
  },
  'consumer of a queue is stuck, and nobody measures its lag': { culprits: ['worker'], outage: { consumes: () => ({ mute: true }) } },
  'poison message': {
    culprits: ['worker'],
    says: /NumberFormat|deserializ|parse|For input string/i,
    outage: {
      consumes: share => (share < 0.15 ? undefined : { mute: true }),
      also: () =>
        every(3_000, 10_000, atMs => ({
          atMs,
          role: 'worker',
          level: 'error',
          line: error(
            'message orders.placed-2@118442 could not be handled, seeking back',
            'java.lang.NumberFormatException: For input string: "12,90"',
          ),
        })),
    },
  },
  'retry storm': {
    culprits: ['stock'],
    says: /rejected|queue|thread/i,
    outage: {
      tries: 3,
      behave: only(
        'stock',
        shareOf(0.85, {
          slowMs: 400,
          ...failing(
            'java.util.concurrent.RejectedExecutionException: Task rejected from ThreadPoolExecutor[Running, pool size = 50, active threads = 50, queued tasks = 100]',
          ),
        }),
      ),
    },
  },
  'clock of a service is wrong': {
    culprits: ['users'],
    says: /clock|issued|before|iat|nbf/i,
    outage: {
      behave: only('users', () => ({
        lines: [warn('token refused: JWT used before issued, iat 2026-03-03T04:01:40Z is in the future')],
        status: 401,
      })),
      also: () => [{ atMs: -20_000, role: 'kernel', level: 'none', line: 'chronyd[712]: System clock wrong by 97.311823 seconds' }],
    },
  },
  'signatures are refused by a third party since a clock is wrong': {
    culprits: ['payments'],
    says: /RequestTimeTooSkewed|time|skew/i,
    outage: {
      behave: only('payments', () =>
        failing(
          'An error occurred (RequestTimeTooSkewed) when calling the PutObject operation: The difference between the request time and the current time is too large.',
          'receipt could not be stored',
        ),
      ),
    },
  },
  'feature flag turns on broken code': {
    culprits: ['prices'],
    says: /null|undefined|NoneType/i,
    outage: {
      behave: only('prices', shareOf(0.4, failing("TypeError: Cannot read properties of undefined (reading 'discount')"))),
      also: () => [{ atMs: -3_000, role: 'prices', level: 'info', line: info('feature flag new-discounts changed from off to on') }],
    },
  },
  'bad release, on half of the pods': {
    culprits: ['payments'],
    says: /LazyInitialization/i,
    outage: {
      behave: only(
        'payments',
        shareOf(
          0.45,
          failing(
            'org.hibernate.LazyInitializationException: failed to lazily initialize a collection of role: com.acme.Payment.items, could not initialize proxy - no Session',
          ),
        ),
      ),
      also: ({ of, pod }) => [
        event(-25_000, {
          kind: 'Deployment',
          pod: of('payments'),
          reason: 'ScalingReplicaSet',
          message: `Scaled up replica set ${pod('payments').slice(0, -6)} to 1`,
          isWarning: false,
        }),
        ...starts('payments', -9_000),
      ],
    },
  },
  'bad release whose errors have level warn': {
    culprits: ['stock'],
    outage: {
      behave: only('stock', shareOf(0.6, { lines: [warn('reservation refused: unknown unit "pcs"')], status: 400 })),
      also: () => starts('stock', -9_000),
    },
  },
  'third party is down': {
    culprits: ['payments'],
    says: /503|stripe/i,
    outage: {
      behave: only(
        'payments',
        shareOf(0.9, {
          slowMs: 900,
          ...failing(
            'com.stripe.exception.ApiException: 503 Service Unavailable from https://api.stripe.example/v1/charges',
            'charge failed',
          ),
        }),
      ),
    },
  },
  'third party limits the rate': {
    culprits: ['prices'],
    says: /429|rate/i,
    outage: {
      behave: only(
        'prices',
        shareOf(0.7, {
          lines: [
            error('exchange rates not loaded', 'HTTPError: 429 Client Error: Too Many Requests for url: https://rates.fx.example/latest'),
          ],
          status: 502,
        }),
      ),
    },
  },
  'few errors beside a burst of others that come every day': {
    culprits: ['stock'],
    says: /IllegalState/i,
    outage: {
      behave: only('stock', shareOf(0.3, failing('java.lang.IllegalStateException: reservation 88 is already closed'))),
      also: () => [
        ...every(-420_000, 210_000, atMs =>
          Array.from(
            { length: 12 },
            (_, at): Further => ({
              atMs: atMs + at * 400,
              role: 'search',
              level: 'error',
              line: error('index segment skipped, will be merged later'),
            }),
          ),
        ),
      ],
    },
  },
  'restart loop for want of a setting': {
    culprits: ['stock'],
    says: /PAYMENTS_URL|missing|environment|required|Back-off/i,
    outage: {
      behave: only('stock', () => ({ unreachable: 'refused' })),
      also: ({ pod }) => [
        ...every(
          1_000,
          25_000,
          atMs =>
            [
              ...starts('stock', atMs).slice(0, 1),
              {
                atMs: atMs + 3_000,
                role: 'stock',
                level: 'error',
                line: error('application failed to start', 'Error: missing required environment variable STOCK_DB_URL'),
              },
            ] as const,
        ),
        ...every(8_000, 25_000, atMs =>
          klog(
            atMs,
            'E',
            `pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"app\\" with CrashLoopBackOff: \\"back-off 40s restarting failed container=app pod=${pod('stock')}_prod(6a1f)\\"" pod="prod/${pod('stock')}"`,
          ),
        ),
      ],
    },
  },
  'memory leak: pauses of the collector': {
    culprits: ['orders'],
    says: /pause|heap|memory|gc/i,
    outage: {
      behave: only('orders', ({ share }) => (share < 0.7 ? { slowMs: 5_000 } : { slowMs: 1_200 })),
      also: () =>
        every(500, 6_000, (atMs, at) => ({
          atMs,
          role: 'orders',
          level: 'info',
          line: `[${(8_000 + atMs / 1_000).toFixed(3)}s][info][gc] GC(${1_200 + at}) Pause Full (G1 Compaction Pause) 4071M->4066M(4096M) ${4_000 + at * 120}.331ms`,
        })),
    },
  },
  'memory leak: out of memory': {
    culprits: ['users'],
    says: /OutOfMemory|heap/i,
    outage: { behave: only('users', shareOf(0.6, failing('java.lang.OutOfMemoryError: Java heap space'))) },
  },
  'database is read-only after a failover': {
    culprits: ['database'],
    says: /read-only/i,
    outage: {
      behave: only('database', () => ({
        status: 500,
        tells: 'cannot execute INSERT in a read-only transaction',
        lines: [{ level: 'error', text: '2026-03-03 04:00:04.118 UTC [812] ERROR:  cannot execute INSERT in a read-only transaction' }],
      })),
      also: () => [
        postgres(-5_000, 'LOG:  received SIGHUP, reloading configuration files'),
        postgres(-4_000, 'LOG:  entering standby mode'),
      ],
    },
  },
  'cache is a replica after a failover': {
    culprits: ['cache'],
    says: /READONLY|replica/i,
    outage: {
      behave: only('cache', () => ({ status: 500, tells: "READONLY You can't write against a read only replica." })),
      also: () => [
        { atMs: -3_000, role: 'cache', level: 'none', line: '1:S 03 Mar 2026 04:00:00.112 * Connecting to MASTER 10.1.4.8:6379' },
      ],
    },
  },
  'cache is full': {
    culprits: ['cache'],
    says: /OOM|memory/i,
    outage: { behave: only('cache', () => ({ status: 500, tells: "OOM command not allowed when used memory > 'maxmemory'." })) },
  },
  'cache hangs, callers time out': {
    culprits: ['cache'],
    says: /tim|redis|cache|valkey/i,
    outage: { behave: only('cache', () => ({ mute: true })) },
  },
  'database is not there': {
    culprits: ['database'],
    outage: {
      behave: only('database', () => ({ status: 500 })),
      also: () => [postgres(-1_000, 'LOG:  received fast shutdown request'), postgres(-500, 'LOG:  database system is shut down')],
    },
  },
  'service hangs after it took the call': { culprits: ['stock'], outage: { behave: only('stock', () => ({ hangs: true })) } },
  'service falls silent': { culprits: ['payments'], outage: { behave: only('payments', () => ({ mute: true })) } },
  'service at the end of the path falls silent': { culprits: ['users'], outage: { behave: only('users', () => ({ mute: true })) } },
  'service becomes slow, without an error': { culprits: ['prices'], outage: { behave: only('prices', () => ({ slowMs: 1_800 })) } },
  'service becomes slow, callers time out': {
    culprits: ['stock'],
    outage: { behave: only('stock', ({ share }) => ({ slowMs: share < 0.7 ? 7_000 : 3_000 })) },
  },
  'kernel kills a service, others restart beside it': {
    culprits: ['stock'],
    says: /kill|memory|OOM/i,
    outage: {
      behave: (role, { minute }) =>
        role === 'stock' && minute > 0.1
          ? { unreachable: 'refused' }
          : (role === 'prices' || role === 'users') && minute > 0.5 && minute < 1.2
            ? { unreachable: 'refused' }
            : undefined,
      also: ({ pod, of }) => [
        kernel(4_000, 'java invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=985'),
        kernel(
          4_010,
          'Memory cgroup out of memory: Killed process 41822 (java) total-vm:9812340kB, anon-rss:4182340kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:8812kB oom_score_adj:985',
        ),
        ...starts('stock', 14_000),
        ...starts('stock', 58_000),
        ...starts('prices', 42_000),
        ...starts('users', 47_000),
        ...every(10_000, 30_000, atMs =>
          klog(
            atMs,
            'E',
            `pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"${of('stock')}\\" with CrashLoopBackOff: \\"back-off 20s restarting failed container=${of('stock')} pod=${pod('stock')}_prod(6a1f)\\"" pod="prod/${pod('stock')}"`,
          ),
        ),
        ...(['prices', 'users'] as const).map((role, at) =>
          klog(
            38_000 + at * 5_000,
            'E',
            `pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"${of(role)}\\" with CrashLoopBackOff: \\"back-off 10s restarting failed container=${of(role)} pod=${pod(role)}_prod(77c2)\\"" pod="prod/${pod(role)}"`,
          ),
        ),
      ],
    },
  },
  'platform kills a service for its memory, others restart beside it': {
    culprits: ['payments'],
    says: /kill|memory|OOM/i,
    outage: {
      behave: (role, { minute }) =>
        role === 'payments' && minute > 0.05
          ? { unreachable: 'refused' }
          : role === 'orders' && minute > 0.6 && minute < 1.4
            ? { unreachable: 'refused' }
            : undefined,
      also: ({ pod }) => [
        event(3_000, {
          pod: pod('payments'),
          reason: 'OOMKilling',
          message: 'Memory cgroup out of memory: Killed process 2211 (dotnet) total-vm:8812044kB, anon-rss:2090332kB',
        }),
        ...starts('payments', 12_000),
        ...every(8_000, 30_000, atMs =>
          event(atMs, { pod: pod('payments'), reason: 'BackOff', message: 'Back-off restarting failed container app in pod' }),
        ),
        event(36_000, {
          pod: pod('orders'),
          reason: 'Unhealthy',
          message: 'Liveness probe failed: HTTP probe failed with statuscode: 503',
        }),
        event(39_000, { pod: pod('orders'), reason: 'BackOff', message: 'Back-off restarting failed container app in pod' }),
        ...starts('orders', 41_000),
      ],
    },
  },
  'liveness probe is too strict': {
    culprits: ['users'],
    says: /probe|restart/i,
    outage: {
      behave: only('users', ({ minute }) => (minute % 0.5 > 0.25 ? { unreachable: 'refused' } : undefined)),
      also: ({ pod }) =>
        every(6_000, 30_000, atMs => [
          event(atMs, {
            pod: pod('users'),
            reason: 'Unhealthy',
            message:
              'Liveness probe failed: Get "http://10.1.9.4:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
          }),
          event(atMs + 2_000, {
            pod: pod('users'),
            reason: 'Killing',
            message: 'Container app failed liveness probe, will be restarted',
            isWarning: false,
          }),
          ...starts('users', atMs + 12_000),
        ]),
    },
  },
  'image cannot be pulled': {
    culprits: ['prices'],
    says: /pull|image/i,
    outage: {
      behave: only('prices', () => ({ unreachable: 'refused' })),
      also: ({ pod }) =>
        every(3_000, 20_000, atMs =>
          event(atMs, {
            pod: pod('prices', 7),
            reason: 'Failed',
            message:
              'Failed to pull image "registry.acme.example/app:4.13": rpc error: code = NotFound desc = failed to resolve reference: not found',
          }),
        ),
    },
  },
  'password of one service was rotated': {
    culprits: ['stock', 'database'],
    says: /password/i,
    outage: {
      behave: (role, { caller }) =>
        role === 'database' && caller === 'stock'
          ? {
              status: 500,
              tells: 'password authentication failed for user "stock"',
              lines: [
                { level: 'error', text: '2026-03-03 04:00:04.118 UTC [812] FATAL:  password authentication failed for user "stock"' },
              ],
            }
          : undefined,
    },
  },
  'too many clients of the database after a restart of all': {
    culprits: ['database'],
    says: /too many clients|slots/i,
    outage: {
      behave: only(
        'database',
        shareOf(0.6, {
          status: 500,
          tells: 'sorry, too many clients already',
          lines: [{ level: 'error', text: '2026-03-03 04:00:04.118 UTC [812] FATAL:  sorry, too many clients already' }],
        }),
      ),
    },
  },
  'edge limits all requests by a wrong rule': {
    culprits: ['edge'],
    says: /limit/i,
    outage: {
      behave: only(
        'edge',
        shareOf(0.6, {
          status: 503,
          lines: [
            error(
              '[error] 31#31: *8812 limiting requests, excess: 20.410 by zone "perip", client: 10.1.0.17, server: _, request: "POST /checkout HTTP/1.1", host: "www.acme.example"',
            ),
          ],
        }),
      ),
    },
  },
  'files used up': {
    culprits: ['users'],
    says: /too many open files|EMFILE/i,
    outage: { behave: only('users', shareOf(0.7, failing("Error: EMFILE: too many open files, open '/app/templates/profile.html'"))) },
  },
  'broker is out of sync': {
    culprits: ['broker'],
    says: /replica|isr/i,
    outage: {
      behave: only(
        'orders',
        shareOf(0.7, {
          ...failing(
            'org.apache.kafka.common.errors.NotEnoughReplicasException: Messages are rejected since there are fewer in-sync replicas than required.',
            'order event could not be published',
          ),
        }),
      ),
      also: () =>
        every(-1_000, 9_000, atMs => ({
          atMs,
          role: 'broker',
          level: 'none',
          line: `[${stamp(OUTAGE_AT_MS + atMs).replace('.', ',')}] ERROR [ReplicaManager broker=1] Error processing append operation on partition orders.placed-2 (kafka.server.ReplicaManager) org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(1) is insufficient to satisfy the min.isr requirement of 2`,
        })),
    },
  },
  'network to one service is cut': { culprits: ['prices'], outage: { behave: only('prices', () => ({ mute: true })) } },
  'wrong result that nobody logs': { culprits: ['payments'], outage: { behave: only('payments', shareOf(0.6, { status: 422 })) } },
  'nothing: twice the load': { culprits: [], outage: { load: 2 } },
  'nothing: half the load': { culprits: [], outage: { load: 0.5 } },
  'nothing: a release that works': {
    culprits: [],
    outage: {
      also: () => [
        ...starts('prices', 5_000),
        ...starts('prices', 30_000),
        { atMs: 1_000, role: 'prices', level: 'info', line: info('received SIGTERM, shutting down gracefully') },
      ],
    },
  },
  'nothing: a job of the night begins': {
    culprits: [],
    outage: {
      also: () =>
        every(2_000, 900, (atMs, at) => ({
          atMs,
          role: 'users',
          level: 'info',
          line: info(`cleaning up session ${at * 31}, ${at} of 160 done`),
        })),
    },
  },
  'nothing: as ever': { culprits: [], outage: {} },
}
