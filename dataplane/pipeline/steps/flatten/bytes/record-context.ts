/** The part of flat records that comes from their resource and scope. */
import { holdsObjects } from '../../../../domain/documents/field-paths.ts'
import { type CanonicalFields, canonicalFields } from '../../../../domain/records/canonical-fields.ts'
import { attributesDigest, DOCUMENT_NAMESPACE } from '../../../../domain/records/document-id.ts'
import { keptAttributes } from '../../../../domain/records/flat-record.ts'
import { type FlatAttributes, flattenAttributes } from '../../../../domain/records/flatten.ts'
import { findHolderProblem } from '../../../../domain/records/otlp-problem.ts'
import { type Repeated, scopeAttributes } from '../../../../domain/records/shared-attributes.ts'
import { busKey } from '../../../../domain/tenants/tenant.ts'
import { namespaceBytes } from '../../../../hash/uuid5.ts'
import type { InstrumentationScope, Resource } from '../../../../otlp/payload.ts'
import { type ContextKeys, KnownContextKeys } from './context-keys.ts'
import { Piece, pieceOf } from './piece.ts'
import { MAX_CONTEXT_BYTES } from './work-area.ts'

/** The bytes that all records of one resource and scope have in common, ready to be copied. */
export interface RecordContext {
  /** Resource and scope as objects, the same ones each time. */
  readonly parsed: () => ParsedOrigin
  /** Two attributes of it flatten to one name, one holds objects, or it is very large: its records need the rules one by one. */
  readonly isPlain: boolean
  readonly fields: CanonicalFields
  /** `<tenant>/<service>` */
  readonly busKey: string
  /** The input of a document id, before and behind the log id: namespace and tenant, digests of resource and scope. */
  readonly contentHead: Piece
  readonly digests: Piece
  /** JSON members, each with a leading comma: of `fields`, with flattened names, under `attributes`. */
  readonly fieldMembers: Uint8Array
  readonly flattened: Uint8Array
  readonly topLevel: Uint8Array
  readonly folded: Uint8Array
  /** Bytes of these, and attributes. */
  readonly repeated: Repeated
  /** How a shape goes with it: the id of the top-level keys of both, undefined when a key of the shape is one of the context's too. */
  readonly keySetWith: ContextKeys['keySetWith']
}

interface ParsedOrigin {
  readonly resource: Resource | undefined
  readonly scope: InstrumentationScope | undefined
}

/** Attributes and the digest of them. */
interface Digested {
  readonly attributes: FlatAttributes
  readonly digest: string
}

const NO_ATTRIBUTES: FlatAttributes = new Map()
const NAMESPACE_BYTES = namespaceBytes(DOCUMENT_NAMESPACE)

/** Memory of a context and its place in the table, beside its bytes and its id. */
const ENTRY_BYTES = 2_000
/** Memory of all contexts and their ids. */
const MAX_BYTES_OF_ALL = 32 * 1024 * 1024
/** The oldest are forgotten down to this: a Map that loses one entry at a time passes over all that it lost before. */
const KEPT_BYTES = 28 * 1024 * 1024
/** Longer ones are not worth remembering. */
const MAX_ID_LENGTH = 16 * 1024

/** Contexts of resources and scopes seen before, by their text in the message: a service sends the same ones over and over. */
export class RecordContexts {
  readonly #contexts = new Map<string, RecordContext>()
  readonly #keys = new KnownContextKeys()
  /** Nearly all senders have the same one. */
  #lastScope: { readonly text: string; readonly digested: Digested } | undefined
  #lastHead: { readonly tenant: string; readonly piece: Piece } | undefined
  readonly #onForgotten: () => void
  #bytes = 0

  /** `onForgotten` is called when some are forgotten, whose memory nobody else should hold then. */
  constructor(onForgotten: () => void = () => undefined) {
    this.#onForgotten = onForgotten
  }

  /** The context of a resource and a scope as JSON texts, empty where there is none; undefined when one of them is not as OTLP has it. Throws when one is no JSON. */
  find(resourceText: string, scopeText: string, defaultTenant: string): RecordContext | undefined {
    const id = `${defaultTenant}|${resourceText}|${scopeText}`
    const known = this.#contexts.get(id)
    if (known !== undefined || id.length > MAX_ID_LENGTH) return known
    const resource = parseResource(resourceText)
    if (findHolderProblem({ resource }, 'resource', 'scopeLogs') !== undefined) return undefined
    const digestedScope = this.#scope(scopeText)
    if (digestedScope === undefined) return undefined
    const digestedResource = digested(flattenAttributes(resource?.attributes))
    const parsed = parsedOnce(id, defaultTenant.length + 1, resourceText.length)
    const context = this.#build(digestedResource, digestedScope, defaultTenant, parsed)
    this.#bytes += sizeOf(id, context)
    this.#contexts.set(id, context)
    if (this.#bytes > MAX_BYTES_OF_ALL) this.#forgetOldest()
    return context
  }

  #scope(text: string): Digested | undefined {
    if (this.#lastScope?.text === text) return this.#lastScope.digested
    const scope = parseScope(text)
    if (findHolderProblem({ scope }, 'scope', 'logRecords') !== undefined) return undefined
    this.#lastScope = { text, digested: digested(scopeAttributes(scope)) }
    return this.#lastScope.digested
  }

  #build(resource: Digested, scope: Digested, defaultTenant: string, parsed: RecordContext['parsed']): RecordContext {
    const fields = canonicalFields(resource.attributes, NO_ATTRIBUTES, defaultTenant)
    const kept = keptAttributes(fields, resource.attributes, scope.attributes)
    const { each, areDistinct, keySetWith } = this.#keys.of([...kept.keys()])
    const members = { flattened: '', topLevel: '', folded: '' }
    let holdsFields = false
    let at = 0
    for (const json of kept.values()) {
      const { flattened, original, isTopLevel } = each[at++]!
      if (flattened !== '') members.flattened += flattened + json
      members[isTopLevel ? 'topLevel' : 'folded'] += original + json
      holdsFields ||= isTopLevel && holdsObjects(json)
    }
    const fieldMembers = Buffer.from(`,${JSON.stringify(fields).slice(1, -1)}`)
    const flattened = Buffer.from(members.flattened)
    const topLevel = Buffer.from(members.topLevel)
    const folded = Buffer.from(members.folded)
    const size = fieldMembers.length + flattened.length + topLevel.length + folded.length
    return {
      parsed,
      isPlain: areDistinct && size <= MAX_CONTEXT_BYTES && !holdsFields,
      fields,
      busKey: busKey(fields.tenant_id, fields.service),
      contentHead: this.#contentHead(fields.tenant_id),
      digests: pieceOf(`:${resource.digest},${scope.digest},`),
      fieldMembers,
      flattened,
      topLevel,
      folded,
      repeated: { bytes: size, items: kept.size },
      keySetWith,
    }
  }

  #contentHead(tenant: string): Piece {
    if (this.#lastHead?.tenant !== tenant)
      this.#lastHead = { tenant, piece: new Piece(Buffer.concat([NAMESPACE_BYTES, Buffer.from(`${tenant}:`)])) }
    return this.#lastHead.piece
  }

  #forgetOldest(): void {
    this.#onForgotten()
    for (const [id, context] of this.#contexts) {
      if (this.#bytes <= KEPT_BYTES) return
      this.#contexts.delete(id)
      this.#bytes -= sizeOf(id, context)
    }
  }
}

function sizeOf(id: string, { repeated }: RecordContext): number {
  return id.length + repeated.bytes + ENTRY_BYTES
}

function digested(attributes: FlatAttributes): Digested {
  return { attributes, digest: attributesDigest(attributes) }
}

/** The resource and scope in an id, parsed when they are first asked for: few records need them. */
function parsedOnce(id: string, resourceAt: number, resourceLength: number): RecordContext['parsed'] {
  const resourceEnd = resourceAt + resourceLength
  let parsed: ParsedOrigin | undefined
  return () => {
    parsed ??= { resource: parseResource(id.slice(resourceAt, resourceEnd)), scope: parseScope(id.slice(resourceEnd + 1)) }
    return parsed
  }
}

const parseResource = (text: string) => parseLatin1(text) as Resource | undefined
const parseScope = (text: string) => parseLatin1(text) as InstrumentationScope | undefined

const BEYOND_ASCII = /[\x80-\xff]/

/** UTF-8 whose bytes were taken for characters. */
function parseLatin1(text: string): unknown {
  if (text === '') return undefined
  return JSON.parse(BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text)
}
