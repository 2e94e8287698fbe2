/** Which attributes a client may not send: those that say whose the records are and, through the gateway, of which upload (Spec: Authentication; Decisions 4). */
import { flattenKey } from '../domain/records/flatten.ts'

export const TENANT_ATTRIBUTE = 'tenant_id'

export type AttributeLevel = 'resource' | 'record'

/** Flattened names that are dropped, by the level that an attribute is of. */
export type DroppedNames = Readonly<Record<AttributeLevel, ReadonlySet<string>>>

/** From the public address: an upload is of the self-hosted way alone. */
export const DROPPED_BY_GATEWAY: DroppedNames = {
  resource: new Set([TENANT_ATTRIBUTE, 'batch_id']),
  record: new Set(['batch_id']),
}

export const DROPPED_BY_DASHBOARD: DroppedNames = { resource: new Set([TENANT_ATTRIBUTE]), record: new Set() }

/** Whom the records are for, and what they may not say. */
export interface Injection {
  readonly tenant: string
  readonly dropped: DroppedNames
}

/** Whether an attribute of this key becomes a dropped one. */
export function isDropped(key: string, names: ReadonlySet<string>): boolean {
  return names.has(flattenKey(key))
}

/** Whether an entry of the map that is the value of `key` becomes a dropped one: `{ tenant: { id } }` flattens to `tenant.id`. */
export function isDroppedEntry(key: string, entry: string, names: ReadonlySet<string>): boolean {
  return isDropped(`${key}.${entry}`, names)
}

/** Texts with one of which each dropped name begins, in bytes: a request without them holds none. */
export function telltalesOf(names: ReadonlySet<string>): readonly string[] {
  return [...names].map(name => name.split('_', 1)[0]!)
}
