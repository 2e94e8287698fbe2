/** The table of roles and commands: what `logpipeline <name>` starts. Each is loaded only when it is asked for. */
import type { COMMANDS, RoleName } from '../contract/roles.ts'
import type { RoleModule } from './role.ts'

export const ROLE_MODULES: { readonly [R in RoleName]: () => Promise<RoleModule<R>> } = {
  standalone: () => import('./standalone/index.ts'),
  collector: () => import('./collector/index.ts'),
  bridge: () => import('./bridge/index.ts'),
  'stream etl': () => import('./stream/etl.ts'),
  'stream score': () => import('./stream/score.ts'),
  ticketing: () => import('./ticketing/index.ts'),
  agent: () => import('./agent/index.ts'),
  features: () => import('./features/index.ts'),
  scheduler: () => import('./scheduler/index.ts'),
  search: () => import('./search/index.ts'),
  operator: () => import('../../operator/main.ts'),
}

/** A command answers its exit code. `config` is the program's own. */
export const COMMAND_RUNNERS: { readonly [C in Exclude<keyof typeof COMMANDS, 'config'>]: (args: readonly string[]) => Promise<number> } = {
  replay: async args => (await import('./replay/index.ts')).runReplay(args),
  'bus groups': async args => (await import('./bus-groups/index.ts')).runBusGroups(args),
  'features compute': async args => (await import('./features/compute-command.ts')).runFeaturesCompute(args),
  dlq: async args => (await import('./dlq/index.ts')).runDlq(args),
}
