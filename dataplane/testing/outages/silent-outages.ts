/** Outages of which the service at fault says nothing, or that others drown. */
import { error, every, failing, type KnownOutage, only, shareOf } from './outage-parts.ts'
import type { Further } from './outage-system.ts'

/** Outages whose few errors come beside many of another kind. */
export const DROWNED_OUTAGES: Readonly<Record<string, KnownOutage>> = {
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
}

/** Outages without a word of the service at fault: it hangs, falls silent or becomes slow. */
export const SILENT_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'service hangs after it took the call': { culprits: ['stock'], outage: { behave: only('stock', () => ({ hangs: true })) } },
  'service falls silent': { culprits: ['payments'], outage: { behave: only('payments', () => ({ mute: true })) } },
  'service at the end of the path falls silent': { culprits: ['users'], outage: { behave: only('users', () => ({ mute: true })) } },
  'service becomes slow, without an error': { culprits: ['prices'], outage: { behave: only('prices', () => ({ slowMs: 1_800 })) } },
  'service becomes slow, callers time out': {
    culprits: ['stock'],
    outage: { behave: only('stock', ({ share }) => ({ slowMs: share < 0.7 ? 7_000 : 3_000 })) },
  },
}

/** Outages that nobody logs. */
export const UNNOTICED_OUTAGES: Readonly<Record<string, KnownOutage>> = {
  'network to one service is cut': { culprits: ['prices'], outage: { behave: only('prices', () => ({ mute: true })) } },
  'wrong result that nobody logs': { culprits: ['payments'], outage: { behave: only('payments', shareOf(0.6, { status: 422 })) } },
}
