import { type CanonicalFields, canonicalFields } from '../../domain/canonical-fields.ts'
import { keySetId } from '../../domain/custom-keys.ts'
import { holdsObjects } from '../../domain/document.ts'
import { attributesDigest } from '../../domain/document-id.ts'
import { isCanonicalName, isTopLevelKey } from '../../domain/field-names.ts'
import { keptAttributes, scopeAttributes } from '../../domain/flat-record.ts'
import { type FlatAttributes, flattenAttributes, flattenKey } from '../../domain/flatten.ts'
import type { InstrumentationScope, Resource } from '../../otlp/payload.ts'
import type { AttributeShape } from './attribute-shape.ts'

/** What all records of one resource and scope have in common, ready to be copied. */
export interface RecordContext {
  /** Two attributes of it flatten to one name, or one holds objects: its records need the rules one by one. */
  readonly isPlain: boolean
  readonly fields: CanonicalFields
  /** `<tenant>/<service>` */
  readonly busKey: string
  /** JSON members of `fields`, with a leading comma. */
  readonly fieldMembers: string
  readonly resourceDigest: string
  readonly scopeDigest: string
  readonly flatNames: ReadonlySet<string>
  /** Members with flattened names, each with a leading comma. */
  readonly flattened: string
  /** Members under `attributes`. */
  readonly topLevel: string
  readonly folded: string
  /** How a shape goes with it: the id of the top-level keys of both, undefined when a key of the shape is one of the context's too. */
  keySetWith(shape: AttributeShape): string | undefined
}

const NO_ATTRIBUTES: FlatAttributes = new Map()

export function buildContext(
  resource: Resource | undefined,
  scope: InstrumentationScope | undefined,
  defaultTenant: string,
): RecordContext {
  const ofResource = flattenAttributes(resource?.attributes)
  const ofScope = scopeAttributes(scope)
  const fields = canonicalFields(ofResource, NO_ATTRIBUTES, defaultTenant)
  const kept = keptAttributes(fields, ofResource, ofScope)
  const names = [...kept.keys()]
  const flatNames = new Set(names.map(flattenKey))
  const topLevelKeys = names.filter(isTopLevelKey)
  const members = (keys: readonly string[]) => keys.map(key => `${JSON.stringify(key)}:${kept.get(key)!}`).join(',')
  const keySets = new Map<AttributeShape, string | undefined>()
  return {
    isPlain: flatNames.size === kept.size && !topLevelKeys.some(key => holdsObjects(kept.get(key)!)),
    fields,
    busKey: `${fields.tenant_id}/${fields.service}`,
    fieldMembers: `,${JSON.stringify(fields).slice(1, -1)}`,
    resourceDigest: attributesDigest(ofResource),
    scopeDigest: attributesDigest(ofScope),
    flatNames,
    flattened: names
      .filter(key => !isCanonicalName(flattenKey(key)))
      .map(key => `,${JSON.stringify(flattenKey(key))}:${kept.get(key)!}`)
      .join(''),
    topLevel: members(topLevelKeys),
    folded: members(names.filter(key => !isTopLevelKey(key))),
    keySetWith(shape) {
      if (keySets.has(shape)) return keySets.get(shape)
      const collides = shape.flatNames.some(name => flatNames.has(name))
      const keySet = collides ? undefined : keySetId([...topLevelKeys, ...shape.topLevelKeys])
      if (keySets.size >= MAX_KEY_SETS) keySets.clear()
      keySets.set(shape, keySet)
      return keySet
    },
  }
}

const MAX_KEY_SETS = 256
const MAX_CONTEXTS = 2_000

/** Contexts of resources and scopes seen before: a service sends the same ones over and over. */
export class RecordContexts {
  readonly #contexts = new Map<string, RecordContext>()
  readonly #defaultTenant: string

  constructor(defaultTenant: string) {
    this.#defaultTenant = defaultTenant
  }

  find(resource: Resource | undefined, scope: InstrumentationScope | undefined): RecordContext {
    const id = JSON.stringify([resource?.attributes, scope?.name, scope?.version, scope?.attributes])
    let context = this.#contexts.get(id)
    if (context === undefined) {
      context = buildContext(resource, scope, this.#defaultTenant)
      if (this.#contexts.size >= MAX_CONTEXTS) this.#contexts.delete(this.#contexts.keys().next().value!)
      this.#contexts.set(id, context)
    }
    return context
  }
}
