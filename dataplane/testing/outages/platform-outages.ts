/** Outages by memory, and by kernel and platform. */
import { event, every, failing, type KnownOutage, kernel, klog, only, shareOf, starts } from './outage-parts.ts'

/** Outages by memory that leaks. */
export const MEMORY_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}

/** Outages by kernel and platform, which kill services or do not start them. */
export const KILL_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}
