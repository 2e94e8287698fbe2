/** Outages that companies wrote about afterwards: written before the rules had seen any of them. */
import { event, every, failing, info, type KnownOutage, kernel, only, postgres, shareOf, starts, warn } from './outage-parts.ts'

export const POST_MORTEM_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'transaction ids of the database are used up': {
    culprits: ['database'],
    says: /wraparound|vacuum/i,
    outage: {
      behave: only('database', ({ caller }) =>
        caller === 'stock' || caller === 'payments'
          ? { status: 500, tells: 'database is not accepting commands to avoid wraparound data loss in database "shop"' }
          : undefined,
      ),
      also: () => [
        postgres(-50_000, 'WARNING:  database "shop" must be vacuumed within 3000112 transactions'),
        ...every(1_000, 9_000, atMs =>
          postgres(atMs, 'ERROR:  database is not accepting commands to avoid wraparound data loss in database "shop"'),
        ),
      ],
    },
  },
  'name service is killed for its memory': {
    culprits: ['dns', 'kernel'],
    says: /memory|oom/i,
    outage: {
      behave: (role, { share }) =>
        ['stock', 'prices', 'users'].includes(role) && share < 0.7 ? { unreachable: 'unknown name' } : undefined,
      also: ({ pod }) =>
        every(1_500, 40_000, atMs => [
          kernel(atMs, 'Memory cgroup out of memory: Killed process 7718 (coredns) total-vm:764312kB, anon-rss:173204kB'),
          event(atMs + 2_000, { pod: pod('dns'), reason: 'BackOff', message: 'Back-off restarting failed container coredns in pod' }),
          { atMs: atMs + 12_000, role: 'dns', level: 'none' as const, line: '[INFO] plugin/reload: Running configuration SHA512 = 7bd3' },
        ]),
    },
  },
  'numbers of a key are used up': {
    culprits: ['stock', 'database'],
    says: /integer out of range|sequence|maximum/i,
    outage: {
      behave: only('database', ({ caller }) => (caller === 'stock' ? { status: 500, tells: 'integer out of range' } : undefined)),
      also: () => every(1_000, 8_000, atMs => postgres(atMs, 'ERROR:  integer out of range')),
    },
  },
  'a pattern for texts burns the processor': {
    culprits: ['users'],
    says: /event loop|blocked/i,
    outage: {
      behave: only('users', ({ share }) => ({ slowMs: share < 0.8 ? 3_400 : 900 })),
      also: () => [
        { atMs: -5_000, role: 'users', level: 'info', line: info('rules for names reloaded, 214 patterns') },
        ...every(2_000, 7_000, (atMs, nth) => ({
          ...{ atMs, role: 'users' as const, level: 'warn' as const },
          line: warn(`event loop was blocked for ${3_200 + nth * 31} ms`),
        })),
      ],
    },
  },
  'a network policy cuts one caller off': {
    culprits: ['payments', 'users'],
    says: /timed? ?out|timeout|deadline|NetworkPolicy|policy/i,
    outage: {
      behave: (role, { caller }) => (role === 'users' && caller === 'payments' ? { mute: true } : undefined),
      also: () => [
        event(-8_000, {
          ...{ kind: 'NetworkPolicy', pod: 'default-deny', reason: 'Applied', isWarning: false },
          message: 'network policy default-deny applied to 14 pods',
        }),
      ],
    },
  },
  'a replica lags behind, and cancels what is read from it': {
    culprits: ['database'],
    says: /recovery|replica|lag/i,
    outage: {
      behave: only('database', shareOf(0.6, { status: 500, tells: 'canceling statement due to conflict with recovery' })),
      also: () =>
        every(1_000, 10_000, atMs => [
          postgres(atMs, 'ERROR:  canceling statement due to conflict with recovery'),
          postgres(atMs + 1, 'DETAIL:  User query might have needed to see row versions that must be removed.'),
        ]),
    },
  },
  'the set of public keys lacks the new one': {
    culprits: ['users'],
    says: /kid|key/i,
    outage: {
      behave: only('users', () => ({
        lines: [warn('token refused: no key with kid 2026-03 in the key set, fetched 3 h ago')],
        status: 401,
      })),
      also: () => starts('payments', -20_000),
    },
  },
  'a circuit breaker stays open': {
    culprits: ['payments', 'users'],
    says: /circuit/i,
    outage: {
      behave: only('payments', () =>
        failing(
          "CallNotPermittedException: CircuitBreaker 'users' is OPEN and does not permit further calls",
          'risk could not be looked up',
        ),
      ),
    },
  },
  'the proxy beside a service resets all calls': {
    culprits: ['stock'],
    says: /503|reset|upstream connect error/i,
    outage: {
      behave: only('stock', () => ({
        lines: [warn('upstream connect error or disconnect/reset before headers. reset reason: connection termination')],
        status: 503,
      })),
      also: () => [{ atMs: -3_000, role: 'stock', level: 'info', line: info('envoy: cds: added 3 clusters, removed 1 clusters') }],
    },
  },
  'a file system is read-only since the disk had errors': {
    culprits: ['search', 'kernel'],
    says: /read-only/i,
    outage: {
      behave: only('search', () =>
        failing('OSError: [Errno 30] Read-only file system: /var/lib/index/segments', 'query could not be cached'),
      ),
      also: () => [
        kernel(-1_000, 'EXT4-fs error (device nvme1n1): ext4_journal_check_start:83: comm node: Detected aborted journal'),
        kernel(-900, 'EXT4-fs (nvme1n1): Remounting filesystem read-only'),
      ],
    },
  },
}
