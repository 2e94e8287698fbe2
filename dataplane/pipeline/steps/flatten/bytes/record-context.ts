/** The part of flat records that comes from their resource and scope. */
import { keySetId } from '../../../../domain/documents/custom-keys.ts'
import { isCanonicalName, isTopLevelKey } from '../../../../domain/documents/field-names.ts'
import { holdsObjects } from '../../../../domain/documents/field-paths.ts'
import { type CanonicalFields, canonicalFields } from '../../../../domain/records/canonical-fields.ts'
import { attributesDigest, DOCUMENT_NAMESPACE } from '../../../../domain/records/document-id.ts'
import { keptAttributes } from '../../../../domain/records/flat-record.ts'
import { type FlatAttributes, flattenAttributes, flattenKey } from '../../../../domain/records/flatten.ts'
import { findHolderProblem } from '../../../../domain/records/otlp-problem.ts'
import { type Repeated, scopeAttributes } from '../../../../domain/records/shared-attributes.ts'
import { namespaceBytes } from '../../../../hash/uuid5.ts'
import type { InstrumentationScope, Resource } from '../../../../otlp/payload.ts'
import type { AttributeShape } from './attribute-shape.ts'
import { MAX_CONTEXT_BYTES } from './work-area.ts'

/** The bytes that all records of one resource and scope have in common, ready to be copied. */
export interface RecordContext {
  readonly resource: Resource | undefined
  readonly scope: InstrumentationScope | undefined
  /** Two attributes of it flatten to one name, one holds objects, or it is very large: its records need the rules one by one. */
  readonly isPlain: boolean
  readonly fields: CanonicalFields
  /** `<tenant>/<service>` */
  readonly busKey: string
  /** The input of a document id, before and behind the log id: namespace and tenant, digests of resource and scope. */
  readonly contentHead: Uint8Array
  readonly digests: Uint8Array
  /** JSON members, each with a leading comma: of `fields`, with flattened names, under `attributes`. */
  readonly fieldMembers: Uint8Array
  readonly flattened: Uint8Array
  readonly topLevel: Uint8Array
  readonly folded: Uint8Array
  /** Bytes of these, and attributes. */
  readonly repeated: Repeated
  /** How a shape goes with it: the id of the top-level keys of both, undefined when a key of the shape is one of the context's too. */
  keySetWith(shape: AttributeShape): string | undefined
}

const NO_ATTRIBUTES: FlatAttributes = new Map()

function buildContext(resource: Resource | undefined, scope: InstrumentationScope | undefined, defaultTenant: string): RecordContext {
  const ofResource = flattenAttributes(resource?.attributes)
  const ofScope = scopeAttributes(scope)
  const fields = canonicalFields(ofResource, NO_ATTRIBUTES, defaultTenant)
  const kept = keptAttributes(fields, ofResource, ofScope)
  const keys = [...kept.keys()]
  const flatNames = new Set(keys.map(flattenKey))
  const topLevelKeys = keys.filter(isTopLevelKey)
  const members = (some: readonly string[], nameOf = (key: string) => key) =>
    Buffer.from(some.map(key => `,${JSON.stringify(nameOf(key))}:${kept.get(key)!}`).join(''))
  const flattened = members(
    keys.filter(key => !isCanonicalName(flattenKey(key))),
    flattenKey,
  )
  const fieldMembers = Buffer.from(`,${JSON.stringify(fields).slice(1, -1)}`)
  const topLevel = members(topLevelKeys)
  const folded = members(keys.filter(key => !isTopLevelKey(key)))
  const size = fieldMembers.length + flattened.length + topLevel.length + folded.length
  return {
    resource,
    scope,
    isPlain: flatNames.size === kept.size && size <= MAX_CONTEXT_BYTES && !topLevelKeys.some(key => holdsObjects(kept.get(key)!)),
    fields,
    busKey: `${fields.tenant_id}/${fields.service}`,
    contentHead: Buffer.concat([namespaceBytes(DOCUMENT_NAMESPACE), Buffer.from(`${fields.tenant_id}:`)]),
    digests: Buffer.from(`:${attributesDigest(ofResource)},${attributesDigest(ofScope)},`),
    fieldMembers,
    flattened,
    topLevel,
    folded,
    repeated: { bytes: size, items: kept.size },
    keySetWith: rememberKeySets(flatNames, topLevelKeys),
  }
}

const MAX_KEY_SETS = 256

function rememberKeySets(flatNames: ReadonlySet<string>, topLevelKeys: readonly string[]): RecordContext['keySetWith'] {
  const keySets = new Map<number, string | undefined>()
  return shape => {
    const known = keySets.get(shape.id)
    if (known !== undefined || keySets.has(shape.id)) return known
    const collides = shape.flatNames.some(name => flatNames.has(name))
    const keySet = collides ? undefined : keySetId([...topLevelKeys, ...shape.topLevelKeys])
    if (keySets.size >= MAX_KEY_SETS) keySets.clear()
    keySets.set(shape.id, keySet)
    return keySet
  }
}

const MAX_CONTEXTS = 2_000
/** Memory of all contexts and their ids. */
const MAX_BYTES_OF_ALL = 32 * 1024 * 1024
/** Longer ones are not worth remembering. */
const MAX_ID_LENGTH = 16 * 1024

/** Contexts of resources and scopes seen before, by their text in the message: a service sends the same ones over and over. */
export class RecordContexts {
  readonly #contexts = new Map<string, RecordContext>()
  #bytes = 0

  /** The context of a resource and a scope as JSON texts, empty where there is none; undefined when one of them is not as OTLP has it. Throws when one is no JSON. */
  find(resourceText: string, scopeText: string, defaultTenant: string): RecordContext | undefined {
    const id = `${defaultTenant}|${resourceText}|${scopeText}`
    const known = this.#contexts.get(id)
    if (known !== undefined || id.length > MAX_ID_LENGTH) return known
    const resource = parseLatin1(resourceText)
    const scope = parseLatin1(scopeText)
    if (findHolderProblem({ resource }, 'resource', 'scopeLogs') !== undefined) return undefined
    if (findHolderProblem({ scope }, 'scope', 'logRecords') !== undefined) return undefined
    const context = buildContext(resource as Resource | undefined, scope as InstrumentationScope | undefined, defaultTenant)
    this.#bytes += id.length + context.repeated.bytes
    this.#contexts.set(id, context)
    this.#forgetOldest()
    return context
  }

  #forgetOldest(): void {
    for (const [id, { repeated }] of this.#contexts) {
      if (this.#contexts.size <= MAX_CONTEXTS && this.#bytes <= MAX_BYTES_OF_ALL) return
      this.#contexts.delete(id)
      this.#bytes -= id.length + repeated.bytes
    }
  }
}

/** UTF-8 whose bytes were taken for characters. */
function parseLatin1(text: string): unknown {
  return text === '' ? undefined : JSON.parse(Buffer.from(text, 'latin1').toString())
}
