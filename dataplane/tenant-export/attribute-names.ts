/** Which attributes a client may not send: those that say whose the records are and, through the gateway, of which upload (Spec: Authentication; Decisions 4). */
import { flattenKey } from '../domain/records/flatten.ts'

export const TENANT_ATTRIBUTE = 'tenant_id'
const BATCH_ATTRIBUTE = 'batch_id'
/** UTF-16 code units, and bytes, of the longest name that is dropped. */
export const MAX_DROPPED_LENGTH = Math.max(TENANT_ATTRIBUTE.length, BATCH_ATTRIBUTE.length)

export type AttributeLevel = 'resource' | 'record'

/** Names that attributes of one level may not have once they are flattened. */
class DroppedNames {
  readonly #names: ReadonlySet<string>
  /** Texts with one of which each name begins, before and after it is flattened. */
  readonly #beginnings: readonly string[]

  constructor(...names: readonly string[]) {
    this.#names = new Set(names)
    this.#beginnings = names.map(name => name.split('_', 1)[0]!)
  }

  /** False for bytes that hold none of the names. */
  mayStandIn(bytes: Buffer): boolean {
    return this.#beginnings.some(text => bytes.includes(text))
  }

  /** The same for JSON, which may write each letter as an escape. */
  mayStandInJson(bytes: Buffer): boolean {
    return this.mayStandIn(bytes) || (this.#beginnings.length > 0 && bytes.includes('\\u'))
  }

  has(key: string): boolean {
    return this.#names.has(flattenKey(key))
  }

  /** Whether an entry of a map with this name may become a dropped attribute. */
  mayHoldEntry(key: string): boolean {
    const beginning = flattenKey(`${key}.`)
    return [...this.#names].some(name => name.startsWith(beginning))
  }

  /** Whether an entry of the map that is the value of `key` becomes a dropped attribute: `{ tenant: { id } }` flattens to `tenant.id`. */
  hasEntry(key: string, entry: string): boolean {
    return this.has(`${key}.${entry}`)
  }
}

export type DroppedAttributes = Readonly<Record<AttributeLevel, DroppedNames>>

/** From the public address: an upload is of the self-hosted way alone. */
export const DROPPED_BY_GATEWAY: DroppedAttributes = {
  resource: new DroppedNames(TENANT_ATTRIBUTE, BATCH_ATTRIBUTE),
  record: new DroppedNames(BATCH_ATTRIBUTE),
}

export const DROPPED_BY_DASHBOARD: DroppedAttributes = { resource: new DroppedNames(TENANT_ATTRIBUTE), record: new DroppedNames() }

/** The tenant of the records, and the attributes that they may not have. */
export interface Injection {
  readonly tenant: string
  readonly dropped: DroppedAttributes
}
