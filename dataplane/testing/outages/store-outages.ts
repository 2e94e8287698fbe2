/** Outages of databases and caches. */
import { event, failing, info, type KnownOutage, klog, only, postgres, shareOf, warn } from './outage-parts.ts'

/** Outages of a database and its disk. */
export const DATABASE_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}

/** Outages of databases and caches after a failover, and of those that are full or away. */
export const FAILOVER_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}
