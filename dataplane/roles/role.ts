/** A role, as the program sees it: it starts with its settings and can be stopped (`process/README.md`). */
import type { MessagePort } from 'node:worker_threads'
import type { SettingsOf } from '../contract/env.ts'
import type { RoleName } from '../contract/roles.ts'
import type { LocalCollector } from '../otlp-intake/local-collector.ts'
import type { Clock } from '../ports/clock.ts'
import type { Stoppable } from '../process/run-until-signal.ts'
import { type Keep, type Running, startTogether } from '../process/running.ts'
import type { Log } from '../telemetry/log.ts'
import { type Backends, createBackends } from './backends.ts'

export interface RoleContext<R extends RoleName> {
  readonly settings: SettingsOf<R>
  readonly log: Log
  readonly clock: Clock
  /** Undefined for a role that is a process of its own. */
  readonly standalone?: StandaloneContext
}

/** Parts that standalone gives to the roles that it starts. */
export interface StandaloneContext {
  /** Shared by all of them, and closed after them. */
  readonly backends: Backends
  readonly logFormat: 'json' | 'readable'
  readonly dataDir: string
  /** A port for bulks, where the search store is a part of this process. */
  readonly connectSearch: (() => MessagePort) | undefined
  /** Tenant of a record whose resource names none. */
  readonly defaultTenant: string
  /** The setting that a port comes from which is `PORT` for the role alone. */
  readonly portSetting: 'AGENT_PORT' | 'SCHEDULER_PORT' | 'PORT'
  /** Ports of all roles, as they are set. */
  readonly ports: readonly number[]
  /** The collector, once it is there. */
  readonly collector?: LocalCollector | undefined
  /** The port of the gateway, once it listens. */
  readonly gatewayPort?: number
  /** How long records wait until they are searchable, ms. */
  delayMs(): number
}

/** `roles/<role>/index.ts` exports this `start`. */
export interface RoleModule<R extends RoleName> {
  start(context: RoleContext<R>): Promise<Stoppable>
}

export interface RoleParts {
  readonly keep: Keep
  /** Back ends of standalone, or the role's own, which are closed after all other parts. */
  readonly backends: Backends
}

/** A role's `start` by the parts that the role keeps. */
export function defineRole<R extends RoleName, T extends object>(
  start: (context: RoleContext<R>, parts: RoleParts) => Promise<T>,
): (context: RoleContext<R>) => Promise<T & Running> {
  return context => startTogether(keep => start(context, { keep, backends: context.standalone?.backends ?? keep(createBackends(context)) }))
}
