/** What a role is to the program: something that starts with its settings and can be stopped. */
import type { SettingsOf } from '../contract/env.ts'
import type { RoleName } from '../contract/roles.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'

export interface RoleContext<R extends RoleName> {
  readonly settings: SettingsOf<R>
  readonly log: Log
  readonly clock: Clock
}

export interface RunningRole {
  /** Drains: takes no new work, finishes or gives back what it holds, frees its ports. */
  stop(): Promise<void>
  /** Rejects when the role cannot go on; never resolves. */
  readonly failed?: Promise<never>
}

/** `roles/<role>/index.ts` exports this `start`. It rejects when the role cannot start, leaving nothing behind. */
export interface RoleModule<R extends RoleName> {
  start(context: RoleContext<R>): Promise<RunningRole>
}
