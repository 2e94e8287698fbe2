/** Outages by queues, retries and limits. */
import { error, every, failing, type KnownOutage, only, shareOf } from './outage-parts.ts'
import { OUTAGE_AT_MS, stamp } from './outage-system.ts'

/** Outages by work that does not get on: a queue whose consumer is stuck, calls that are tried again and again. */
export const QUEUE_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}

/** Outages by limits: connections, requests, files, replicas. */
export const LIMIT_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}
