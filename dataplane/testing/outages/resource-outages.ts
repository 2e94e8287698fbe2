/** Outages by limits of machines, of the cloud and of protocols, as public reports tell them: written before the rules had seen any of them. */
import { error, event, every, failing, info, type KnownOutage, kernel, klog, only, postgres, shareOf, warn } from './outage-parts.ts'

export const RESOURCE_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'a service offers only ciphers that its caller does not know': {
    culprits: ['stock'],
    says: /handshake|cipher|TLS/i,
    outage: {
      behave: only('stock', ({ caller }) => (caller === 'orders' ? { unreachable: 'refused' } : undefined)),
      also: () => [
        { atMs: -4_000, role: 'stock', level: 'info', line: info('TLS policy is now TLS13-1-3-2021-06, certificate reloaded') },
        ...every(1_000, 4_000, (atMs, nth) => ({
          ...{ atMs, role: 'stock' as const, level: 'none' as const },
          line: `2026/03/03 04:00:11 http: TLS handshake error from 10.1.0.17:${41_000 + nth}: tls: client offered only unsupported versions: [303]`,
        })),
      ],
    },
  },
  'disk of the database is throttled': {
    culprits: ['database', 'kernel'],
    says: /checkpoint|blocked for more|I\/O|slow|duration/i,
    outage: {
      behave: only('database', ({ share }) => ({ slowMs: share < 0.5 ? 6_500 : 2_200 })),
      also: () => [
        ...every(3_000, 12_000, (atMs, nth) =>
          postgres(
            atMs,
            `LOG:  duration: ${5_200 + nth * 117}.204 ms  statement: UPDATE stock SET reserved = reserved + $1 WHERE sku = $2`,
          ),
        ),
        postgres(
          40_000,
          'LOG:  checkpoint complete: wrote 8113 buffers (49.5%); 0 WAL file(s) added, 3 removed, 11 recycled; write=269.911 s, sync=31.204 s, total=301.512 s',
        ),
        ...every(20_000, 30_000, atMs => kernel(atMs, 'INFO: task postgres:2114 blocked for more than 120 seconds.')),
      ],
    },
  },
  'leader of the workers is elected again and again': {
    culprits: ['worker'],
    says: /lease|leader/i,
    outage: {
      consumes: share => (share < 0.8 ? { mute: true } : undefined),
      also: () =>
        every(1_000, 18_000, atMs => [
          {
            ...{ atMs, role: 'worker' as const, level: 'none' as const },
            line: 'E0303 04:00:11.118273       1 leaderelection.go:340] Failed to update lease optimistically, falling back to slow path: etcdserver: request timed out',
          },
          {
            ...{ atMs: atMs + 5_000, role: 'worker' as const, level: 'none' as const },
            line: 'I0303 04:00:16.118273       1 leaderelection.go:297] failed to renew lease prod/worker-leader: timed out waiting for the condition',
          },
          {
            ...{ atMs: atMs + 5_010, role: 'worker' as const, level: 'none' as const },
            line: 'F0303 04:00:16.128411       1 main.go:84] leaderelection lost',
          },
          { atMs: atMs + 9_000, role: 'worker' as const, level: 'info' as const, line: info('starting up, version 4.12.0') },
        ]),
    },
  },
  'quota of a cloud API is used up': {
    culprits: ['users'],
    says: /Throttling|rate exceeded|quota/i,
    outage: {
      behave: only(
        'users',
        shareOf(
          0.7,
          failing(
            'ThrottlingException: Rate exceeded (Service: Kms, Status Code: 400, Request ID: 7bd3a1c2-1188-4c02-9f5e-118273aa0001)',
            'profile could not be decrypted',
          ),
        ),
      ),
    },
  },
  'clients come again without a pause, and the edge runs out of connections': {
    culprits: ['edge'],
    says: /worker_connections/i,
    outage: {
      load: 4,
      behave: only('edge', ({ share }) =>
        share < 0.6
          ? {
              lines: [
                {
                  level: 'error',
                  text: '[alert] 31#31: *8812 1024 worker_connections are not enough while connecting to upstream, client: 10.1.0.17, server: _',
                },
              ],
              status: 500,
            }
          : undefined,
      ),
    },
  },
  'threads of a pool starve': {
    culprits: ['stock'],
    says: /starvation|Connection is not available/i,
    outage: {
      behave: only(
        'stock',
        shareOf(
          0.6,
          failing(
            'SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30005ms (total=10, active=10, idle=0, waiting=37)',
            'reservation failed',
          ),
        ),
      ),
      also: () => [
        ...every(2_000, 40_000, (atMs, nth) => ({
          ...{ atMs, role: 'stock' as const, level: 'warn' as const },
          line: warn(`HikariPool-1 - Thread starvation or clock leap detected (housekeeper delta=${48 + nth}s311ms667µs120ns).`),
        })),
      ],
    },
  },
  'a job of the night runs twice as the clock goes back': {
    culprits: ['worker'],
    says: /duplicate|already|invoice/i,
    outage: {
      also: () => [
        { atMs: 0, role: 'worker', level: 'info', line: info('job invoices started, scheduled fire time Sun Oct 25 02:30:00 CET 2026') },
        ...every(2_000, 3_000, (atMs, nth) => [
          postgres(atMs, 'ERROR:  duplicate key value violates unique constraint "invoices_customer_day_key"'),
          {
            ...{ atMs: atMs + 3, role: 'worker' as const, level: 'error' as const },
            line: error(
              `invoice of customer ${7_118 + nth} could not be written`,
              'DuplicateKeyException: duplicate key value violates unique constraint "invoices_customer_day_key"',
            ),
          },
        ]),
      ],
    },
  },
  'connection tracking of a node is full': {
    culprits: ['kernel'],
    says: /conntrack/i,
    outage: {
      behave: (role, { share, replica }) =>
        ['stock', 'prices', 'users'].includes(role) && replica === 0 && share < 0.6 ? { mute: true } : undefined,
      also: () => every(500, 2_500, atMs => kernel(atMs, 'nf_conntrack: nf_conntrack: table full, dropping packet')),
    },
  },
  'local ports of a service are used up': {
    culprits: ['payments'],
    says: /assign requested address/i,
    outage: {
      behave: only(
        'payments',
        shareOf(0.8, failing('dial tcp 10.96.14.7:8080: connect: cannot assign requested address', 'risk could not be looked up')),
      ),
    },
  },
  'an index is locked since its disk is nearly full': {
    culprits: ['search'],
    says: /flood-stage|watermark|read-only/i,
    outage: {
      behave: only(
        'search',
        shareOf(
          0.7,
          failing(
            'cluster_block_exception: index [catalog] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];',
            'query could not be recorded',
          ),
        ),
      ),
    },
  },
  'consumers are thrown out of their group again and again': {
    culprits: ['worker'],
    says: /rebalanc|group|poll|commit/i,
    outage: {
      consumes: share => (share < 0.7 ? { mute: true } : undefined),
      also: () =>
        every(1_000, 15_000, atMs => [
          {
            ...{ atMs, role: 'worker' as const, level: 'warn' as const },
            line: warn(
              '[Consumer clientId=consumer-orders-1, groupId=orders] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms',
            ),
          },
          {
            ...{ atMs: atMs + 40, role: 'worker' as const, level: 'error' as const },
            line: error(
              'offsets could not be committed',
              'CommitFailedException: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment',
            ),
          },
          {
            ...{ atMs: atMs + 100, role: 'broker' as const, level: 'none' as const },
            line: '[2026-03-03 04:00:11,118] INFO [GroupCoordinator 1]: Preparing to rebalance group orders in state PreparingRebalance with old generation 118 (kafka.coordinator.group.GroupCoordinator)',
          },
        ]),
    },
  },
  'cache takes no writes since it cannot save': {
    culprits: ['cache'],
    says: /MISCONF|persist|\bsav(?:e|ing)\b|RDB/i,
    outage: {
      behave: only('cache', ({ caller, share }) =>
        share < 0.6 && (caller === 'prices' || caller === 'users')
          ? {
              status: 500,
              tells:
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled",
            }
          : undefined,
      ),
      also: () => [
        ...every(1_000, 20_000, atMs => ({
          ...{ atMs, role: 'cache' as const, level: 'none' as const },
          line: '1:M 03 Mar 2026 04:00:11.118 # Background saving error',
        })),
      ],
    },
  },
  'a pooler in front of the database forgets prepared statements': {
    culprits: ['database', 'stock'],
    says: /prepared statement/i,
    outage: {
      behave: only('database', ({ caller, share }) =>
        caller === 'stock' && share < 0.6 ? { status: 500, tells: 'prepared statement "S_3" does not exist' } : undefined,
      ),
      also: () => every(1_500, 8_000, atMs => postgres(atMs, 'ERROR:  prepared statement "S_3" does not exist')),
    },
  },
  'a service may start no more threads': {
    culprits: ['prices'],
    says: /native thread/i,
    outage: {
      behave: only(
        'prices',
        shareOf(
          0.7,
          failing(
            'OutOfMemoryError: unable to create native thread: possibly out of memory or process/resource limits reached',
            'quote failed',
          ),
        ),
      ),
      also: ({ pod }) => [
        klog(-3_000, 'I', `kubelet.go:2420] "SyncLoop (PLEG): event for pod" pod="prod/${pod('prices')}"`),
        event(60_000, { pod: pod('prices'), reason: 'Unhealthy', message: 'Liveness probe failed: context deadline exceeded' }),
      ],
    },
  },
}
