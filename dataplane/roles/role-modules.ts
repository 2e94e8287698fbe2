/** The table of the roles that work alone: as a process, and most of them in standalone. Each is loaded only when it is asked for. */
export const ROLE_MODULES = {
  gateway: () => import('./gateway/index.ts'),
  dashboard: () => import('./dashboard/index.ts'),
  collector: () => import('./collector/index.ts'),
  bridge: () => import('./bridge/index.ts'),
  'stream etl': () => import('./stream/etl.ts'),
  'stream score': () => import('./stream/score.ts'),
  ticketing: () => import('./ticketing/index.ts'),
  agent: () => import('./agent/index.ts'),
  features: () => import('./features/index.ts'),
  scheduler: () => import('./scheduler/index.ts'),
  search: () => import('./search/index.ts'),
} as const
