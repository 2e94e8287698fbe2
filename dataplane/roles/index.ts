/** The table of roles and commands: what `logpipeline <name>` starts. Each is loaded only when it is asked for. */
import type { COMMANDS, RoleName } from '../contract/roles.ts'
import type { RoleModule } from './role.ts'
import { ROLE_MODULES } from './role-modules.ts'

export const ROLE_LOADERS: { readonly [R in RoleName]: () => Promise<RoleModule<R>> } = {
  ...ROLE_MODULES,
  standalone: () => import('./standalone/index.ts'),
  operator: () => import('../../operator/main.ts'),
}

/** A command answers its exit code. `config` is the program's own. */
export const COMMAND_RUNNERS: { readonly [C in Exclude<keyof typeof COMMANDS, 'config'>]: (args: readonly string[]) => Promise<number> } = {
  replay: async args => (await import('./replay/index.ts')).runReplay(args),
  keys: async args => (await import('./keys/index.ts')).runKeys(args),
  'bus groups': async args => (await import('./bus-groups/index.ts')).runBusGroups(args),
  'features compute': async args => (await import('./features/compute-command.ts')).runFeaturesCompute(args),
  'demo platforms': async args => (await import('../demo/platforms/command.ts')).runDemoPlatforms(args),
  demo: async args => (await import('../demo/shop/command.ts')).runDemo(args),
  capacity: async args => (await import('./capacity/index.ts')).runCapacity(args),
  backup: async args => (await import('./backup/index.ts')).runBackup(args),
  restore: async args => (await import('./backup/index.ts')).runRestore(args),
  dlq: async args => (await import('./dlq/index.ts')).runDlq(args),
}
