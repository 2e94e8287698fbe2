/** Which attributes a client may not send through the gateway: those that say whose the records are, and of which upload (Spec: Authentication; Decisions 4). */
import { flattenKey } from '../../../domain/records/flatten.ts'

export const TENANT_ATTRIBUTE = 'tenant_id'

/** By the level that an attribute is of: flattened names that are dropped there. */
export const DROPPED = {
  resource: new Set([TENANT_ATTRIBUTE, 'batch_id']),
  record: new Set(['batch_id']),
} as const

export type AttributeLevel = keyof typeof DROPPED

/** Whether an attribute of this key becomes a dropped one. */
export function isDropped(key: string, level: AttributeLevel): boolean {
  return DROPPED[level].has(flattenKey(key))
}

/** Whether an entry of the map that is the value of `key` becomes a dropped one: `{ tenant: { id } }` flattens to `tenant.id`. */
export function isDroppedEntry(key: string, entry: string, level: AttributeLevel): boolean {
  return isDropped(`${key}.${entry}`, level)
}

/** Each dropped name begins with one of these, in bytes: a request without them holds none. */
export const TELLTALES = { resource: ['tenant', 'batch'], record: ['batch'] } as const satisfies Record<AttributeLevel, readonly string[]>
