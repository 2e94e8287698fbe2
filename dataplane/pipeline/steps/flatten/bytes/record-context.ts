/** The part of flat records that comes from their resource and scope. */
import { holdsObjects } from '../../../../domain/documents/field-paths.ts'
import { canonicalFields } from '../../../../domain/records/canonical-fields.ts'
import { attributesDigest, DOCUMENT_NAMESPACE } from '../../../../domain/records/document-id.ts'
import { keptAttributes } from '../../../../domain/records/flat-record.ts'
import { type FlatAttributes, flattenAttributes } from '../../../../domain/records/flatten.ts'
import { findHolderProblem } from '../../../../domain/records/otlp-problem.ts'
import { type Repeated, scopeAttributes } from '../../../../domain/records/shared-attributes.ts'
import { busKey } from '../../../../domain/tenants/tenant.ts'
import { namespaceBytes } from '../../../../hash/uuid5.ts'
import type { InstrumentationScope, Resource } from '../../../../otlp/payload.ts'
import { type ContextKeys, KnownContextKeys } from './context-keys.ts'
import { Piece } from './piece.ts'
import { MAX_CONTEXT_BYTES } from './work-area.ts'

/** Everything that all records of one resource and scope have in common, as bytes that are ready to be copied. */
export interface RecordContext {
  /** False where two attributes flatten to one name, where one holds objects, and for very large contexts: their records need the rules one by one. */
  readonly isPlain: boolean
  readonly sender: Sender
  readonly shared: SharedBytes
  /** Bytes of its members, and attributes. */
  readonly repeated: Repeated
  /** Memory of the context and of its place in a table, without its bytes and their source. */
  readonly heldBytes: number
  /** How a shape goes with it: the id of the top-level keys of both, undefined when a key of the shape is one of the context's too. */
  readonly keySetWith: ContextKeys['keySetWith']
}

/** One object for all contexts of a tenant's service. */
export interface Sender {
  readonly tenant: string
  readonly service: string
  /** `<tenant>/<service>` */
  readonly busKey: string
  /** The input of a document id before the log id: namespace and tenant. */
  readonly contentHead: Piece
}

/**
 * Digests of resource and scope, as they stand behind the log id in the input of a document id; then JSON members, each with a leading comma: of the
 * canonical fields, with flattened names, at the top level of `attributes`, and those that are folded. One behind the other, from `start` of `memory` on.
 */
export interface SharedBytes {
  readonly memory: Buffer
  readonly start: number
  /** Ends of the five, counted from `start`. */
  readonly digestsEnd: number
  readonly fieldsEnd: number
  readonly flattenedEnd: number
  readonly topLevelEnd: number
  readonly foldedEnd: number
}

/** Attributes and the digest of them. */
interface Digested {
  readonly attributes: FlatAttributes
  readonly digest: string
}

const NO_ATTRIBUTES: FlatAttributes = new Map()
const NAMESPACE_BYTES = namespaceBytes(DOCUMENT_NAMESPACE)

const CONTEXT_BYTES = 250
/** Memory of a key in a list of keys. */
const KEY_BYTES = 250
/** Memory of the contexts that are found by their text, and of the texts. */
const MAX_BYTES_OF_ALL = 8 * 1024 * 1024
/** The oldest are forgotten down to this: a Map that loses one entry at a time passes over all that it lost before. */
const KEPT_BYTES = 7 * 1024 * 1024
/** Longer ones are not worth remembering. */
const MAX_ID_LENGTH = 16 * 1024
const MAX_SENDERS = 1_000

/** Makes contexts of resources and scopes. */
export class RecordContexts {
  /** By their text in the message: those that `KnownHeads` does not find, such as of all scopes but the first. */
  readonly #contexts = new Map<string, RecordContext>()
  readonly #keys = new KnownContextKeys()
  readonly #senders = new Map<string, Sender>()
  /** Nearly all senders have the same one. */
  #lastScope: { readonly text: string; readonly digested: Digested } | undefined
  #bytes = 0

  /** The same as `make` gives, remembered. */
  find(resourceText: string, scopeText: string, defaultTenant: string): RecordContext | undefined {
    const id = `${defaultTenant}|${resourceText}|${scopeText}`
    const known = this.#contexts.get(id)
    if (known !== undefined || id.length > MAX_ID_LENGTH) return known
    const context = this.make(resourceText, scopeText, defaultTenant)
    if (context === undefined) return undefined
    this.#bytes += sizeOf(id, context)
    this.#contexts.set(id, context)
    if (this.#bytes > MAX_BYTES_OF_ALL) this.#forgetOldest()
    return context
  }

  /** The context of a resource and a scope as JSON texts, empty where there is none; undefined when one of them is not as OTLP has it. Throws when one is no JSON. */
  make(resourceText: string, scopeText: string, defaultTenant: string): RecordContext | undefined {
    const resource = parseLatin1(resourceText) as Resource | undefined
    if (findHolderProblem({ resource }, 'resource', 'scopeLogs') !== undefined) return undefined
    const scope = this.#scope(scopeText)
    return scope && this.#build(digested(flattenAttributes(resource?.attributes)), scope, defaultTenant)
  }

  #scope(text: string): Digested | undefined {
    if (this.#lastScope?.text === text) return this.#lastScope.digested
    const scope = parseLatin1(text) as InstrumentationScope | undefined
    if (findHolderProblem({ scope }, 'scope', 'logRecords') !== undefined) return undefined
    this.#lastScope = { text, digested: digested(scopeAttributes(scope)) }
    return this.#lastScope.digested
  }

  #build(resource: Digested, scope: Digested, defaultTenant: string): RecordContext {
    const fields = canonicalFields(resource.attributes, NO_ATTRIBUTES, defaultTenant)
    const kept = keptAttributes(fields, resource.attributes, scope.attributes)
    const listsBefore = this.#keys.built
    const { each, areDistinct, keySetWith } = this.#keys.of([...kept.keys()])
    const isOwnList = this.#keys.built > listsBefore
    const members = { flattened: '', topLevel: '', folded: '' }
    let holdsFields = false
    let at = 0
    for (const json of kept.values()) {
      const { flattened, original, isTopLevel } = each[at++]!
      if (flattened !== '') members.flattened += flattened + json
      members[isTopLevel ? 'topLevel' : 'folded'] += original + json
      holdsFields ||= isTopLevel && holdsObjects(json)
    }
    const digests = `:${resource.digest},${scope.digest},`
    const shared = sharedBytes(digests, `,${JSON.stringify(fields).slice(1, -1)}`, members)
    const size = shared.foldedEnd - shared.digestsEnd
    return {
      isPlain: areDistinct && size <= MAX_CONTEXT_BYTES && !holdsFields,
      sender: this.#sender(fields.tenant_id, fields.service),
      shared,
      repeated: { bytes: size, items: kept.size },
      heldBytes: CONTEXT_BYTES + (isOwnList ? KEY_BYTES * kept.size : 0),
      keySetWith,
    }
  }

  #sender(tenant: string, service: string): Sender {
    const key = busKey(tenant, service)
    const known = this.#senders.get(key)
    if (known?.tenant === tenant && known.service === service) return known
    if (this.#senders.size >= MAX_SENDERS) this.#senders.clear()
    const contentHead = new Piece(Buffer.concat([NAMESPACE_BYTES, Buffer.from(`${tenant}:`)]))
    const sender = { tenant, service, busKey: key, contentHead }
    this.#senders.set(key, sender)
    return sender
  }

  #forgetOldest(): void {
    for (const [id, context] of this.#contexts) {
      if (this.#bytes <= KEPT_BYTES) return
      this.#contexts.delete(id)
      this.#bytes -= sizeOf(id, context)
    }
  }
}

/** The context with a copy of its bytes at `start` of `memory` in their place. */
export function contextAt(context: RecordContext, memory: Buffer, start: number): RecordContext {
  return { ...context, shared: { ...context.shared, memory, start } }
}

function sharedBytes(digests: string, fields: string, members: Readonly<Record<'flattened' | 'topLevel' | 'folded', string>>): SharedBytes {
  const { flattened, topLevel, folded } = members
  const memory = Buffer.from(digests + fields + flattened + topLevel + folded)
  const digestsEnd = digests.length
  const fieldsEnd = digestsEnd + Buffer.byteLength(fields)
  const flattenedEnd = fieldsEnd + Buffer.byteLength(flattened)
  return {
    memory,
    start: 0,
    digestsEnd,
    fieldsEnd,
    flattenedEnd,
    topLevelEnd: flattenedEnd + Buffer.byteLength(topLevel),
    foldedEnd: memory.length,
  }
}

function sizeOf(id: string, { shared, heldBytes }: RecordContext): number {
  return id.length + shared.foldedEnd + heldBytes
}

function digested(attributes: FlatAttributes): Digested {
  return { attributes, digest: attributesDigest(attributes) }
}

const BEYOND_ASCII = /[\x80-\xff]/

/** UTF-8 whose bytes were taken for characters. */
function parseLatin1(text: string): unknown {
  if (text === '') return undefined
  return JSON.parse(BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text)
}
