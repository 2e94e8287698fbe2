/** Times without an outage, in which something happens all the same. */
import { every, info, type KnownOutage, starts } from './outage-parts.ts'

export const QUIET_TIMES: Readonly<Record<string, KnownOutage>> = {
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
