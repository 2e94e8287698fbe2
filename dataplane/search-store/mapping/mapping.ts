/** The mapping of one index, which learns new fields from documents. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { textOf } from '../json/text-of.ts'
import { DocumentRejected } from './document-rejected.ts'
import { createDynamicRule, type DynamicKind } from './dynamic-templates.ts'
import {
  addChild,
  childPath,
  createNode,
  type FieldNode,
  MAX_FIELD_DEPTH,
  propertiesJson,
  removeChild,
  splitKey,
  weightOf,
} from './field-tree.ts'
import type { FieldMapping, IndexMapping } from './field-types.ts'
import { type MappingConfig, objectOf } from './mapping-config.ts'
import { NOT_IN_DOCUMENTS } from './metadata-fields.ts'
import { type FieldResolver, type LeafVisitor, type ValueKind, visitDocument, writtenAlias } from './parse-document.ts'
import { parseField } from './parse-field.ts'
import { SharedTree } from './shared-tree.ts'
import { looksLikeDate } from './values.ts'

/** OpenSearch's `index.mapping.total_fields.limit`. */
const DEFAULT_TOTAL_FIELDS_LIMIT = 1000

/** Fields of one index, even where its own limit is higher. One document may bring as many, and the mapping is written anew for each new field. */
const MAX_FIELDS = 10_000

/** Fields of all indices together; indices with the same fields count once. A field takes half a kilobyte, in the store and where queries run. */
const MAX_FIELDS_OF_ALL = 200_000

/** A mapping that learns new fields from documents. */
export interface MutableMapping extends IndexMapping, FieldResolver {
  /**
   * Grows when a path may resolve to another field or node than before: by `put` and `rollback`, and when the same fields get other nodes. New
   * fields and `takeBack` do not count.
   */
  readonly revision: number
  /** Grows with every change, by new fields too. */
  readonly generation: number
  /**
   * Holds a document against the mapping, adding new fields, and shows the visitor every leaf. Throws DocumentRejected where
   * OpenSearch would refuse it; the mapping is then as it was.
   */
  parse(source: Uint8Array, visitor?: LeafVisitor): void
  /** Runs `body`; when it throws, the fields it added are taken back. */
  transaction<T>(body: () => T): T
  /** Marks a state that `rollback` returns to, for callers that span several steps. */
  mark(): number
  rollback(mark: number): void
  /** As `rollback`, for callers that themselves forget the fields that go: `revision` stays. */
  takeBack(mark: number): readonly FieldNode[]
  /** Forgets how to roll back. */
  commit(): void
  /** `PUT /{index}/_mapping`: merges a `properties` object; throws DocumentRejected when a field would change its type. */
  put(properties: Readonly<Record<string, unknown>>): void
  /** Takes the fields out of the count over all indices. The mapping may be read on, but must not change any more. */
  release(): void
}

/** Throws DocumentRejected or TypeError when the configuration is not valid. */
export function createMapping(config: MappingConfig): MutableMapping {
  return new FieldTreeMapping(config, false)
}

/** Opens the mapping of an index that exists. Its fields stay, even where the limit has been lowered since. */
export function openMapping(config: MappingConfig): MutableMapping {
  return new FieldTreeMapping(config, true)
}

/** Dates with slashes, which new fields take as OpenSearch does. */
const SLASHED_DATE = /^\d{4}\/(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$/
const SLASHED_FORMAT = 'yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis'

/** A node that was added, or one that was extended and what it was before. */
type Change =
  | { readonly kind: 'added'; readonly node: FieldNode; readonly name: string }
  | { readonly kind: 'extended'; readonly node: FieldNode; readonly before: Pick<FieldNode, 'mapping' | 'json'> }

/** An alias field that is to be merged. */
interface GivenAlias {
  readonly parent: FieldNode
  readonly name: string
  readonly json: unknown
}

/** Trees of mappings that nobody released. */
const unreachable = new FinalizationRegistry<SharedTree>(tree => tree.release())

class FieldTreeMapping implements MutableMapping {
  readonly #tree = new SharedTree()
  readonly #config: Omit<MappingConfig, 'properties'>
  readonly #dynamic: string
  readonly #rule: (name: string, path: string, kind: DynamicKind) => Record<string, unknown> | undefined
  #limit: number
  #revision = 0
  #generation = 0
  #journal: Change[] = []

  constructor(config: MappingConfig, isStored: boolean) {
    const { properties = {}, ...others } = config
    this.#config = others
    this.#dynamic = String(config.dynamic ?? true)
    this.#rule = createDynamicRule(config.dynamicTemplates ?? [])
    const asked = config.totalFieldsLimit ?? DEFAULT_TOTAL_FIELDS_LIMIT
    // A mapping without a limit is a copy of one that is bounded elsewhere.
    const limit = asked === Number.POSITIVE_INFINITY ? asked : Math.min(asked, MAX_FIELDS)
    this.#limit = isStored ? Number.POSITIVE_INFINITY : limit
    unreachable.register(this, this.#tree, this)
    this.put(properties)
    this.#limit = limit
  }

  get root(): FieldNode {
    return this.#tree.root
  }

  get revision(): number {
    return this.#revision
  }

  get generation(): number {
    return this.#generation
  }

  field(path: string): FieldMapping | undefined {
    let node = this.root
    const names = path.split('.')
    for (const [index, name] of names.entries()) {
      const child = node.children.get(name)
      if (child === undefined) return index === names.length - 1 ? multiField(node.mapping, name) : undefined
      node = child
      if (node.mapping.type === 'flat_object' && index < names.length - 1) return { type: 'keyword' }
    }
    return node.mapping
  }

  paths(): readonly string[] {
    return this.#tree.paths
  }

  toJson(): Record<string, unknown> {
    const { dynamicTemplates, dynamic, dateDetection } = this.#config
    return {
      ...(dynamic === undefined ? {} : { dynamic: String(dynamic) }),
      ...(dateDetection === undefined ? {} : { date_detection: dateDetection }),
      ...(dynamicTemplates === undefined || dynamicTemplates.length === 0 ? {} : { dynamic_templates: dynamicTemplates }),
      ...(this.root.children.size === 0 ? {} : { properties: propertiesJson(this.root) }),
    }
  }

  parse(source: Uint8Array, visitor?: LeafVisitor): void {
    this.transaction(() => visitDocument(this, source, visitor))
  }

  transaction<T>(body: () => T): T {
    const mark = this.mark()
    try {
      return body()
    } catch (error) {
      this.rollback(mark)
      throw error
    } finally {
      if (mark === 0) this.commit()
    }
  }

  mark(): number {
    return this.#journal.length
  }

  rollback(mark: number): void {
    if (this.takeBack(mark).length > 0) this.#revision++
  }

  takeBack(mark: number): readonly FieldNode[] {
    const taken = this.#journal.splice(mark)
    for (const change of taken.toReversed()) {
      const { node } = change
      this.#tree.count(-weightOf(node.mapping))
      if (change.kind === 'extended') {
        Object.assign(node, change.before)
        this.#tree.count(weightOf(node.mapping))
      } else if (node.parent !== undefined) removeChild(node.parent, change.name)
    }
    if (taken.length > 0) this.#fieldsChanged()
    return taken.map(({ node }) => node)
  }

  commit(): void {
    this.#journal = []
    if (this.#tree.share()) this.#revision++
  }

  release(): void {
    unreachable.unregister(this)
    this.#journal = []
    this.#tree.release()
  }

  resolve(parent: FieldNode, key: string, kind: ValueKind, text?: string): FieldNode | undefined {
    const known = parent.children.get(key)
    if (known !== undefined) return checkKind(known, kind)
    const names = splitKey(key)
    let node = this.#tree.nodeOf(parent)
    for (const name of names.slice(0, -1)) {
      const next = node.children.get(name) ?? this.#addDynamic(node, name, 'object')
      if (next === undefined) return undefined
      if (next.mapping.type === 'flat_object') return next
      if (next.mapping.type !== 'object') throw notAnObject(childPath(parent, key), next)
      if (next.mapping.index === false) return undefined
      node = this.#tree.nodeOf(next)
    }
    const last = names.at(-1)!
    const found = node.children.get(last)
    if (found !== undefined) return checkKind(found, kind)
    const detected = kind === 'string' && this.#config.dateDetection !== false && text !== undefined && looksLikeDate(text) ? 'date' : kind
    const isSlashed = kind === 'string' && this.#config.dateDetection !== false && text !== undefined && SLASHED_DATE.test(text)
    const added = isSlashed ? this.#addDynamic(node, last, 'date', SLASHED_FORMAT) : this.#addDynamic(node, last, detected)
    return added === undefined ? undefined : checkKind(added, kind)
  }

  put(properties: Readonly<Record<string, unknown>>): void {
    this.transaction(() => {
      const aliases: GivenAlias[] = []
      this.#merge(this.root, properties, aliases)
      // Aliases come after all fields that they may stand for.
      for (const { parent, name, json } of aliases) {
        const path = childPath(parent, name)
        this.#checkAlias(path, parseField(path, json).target!)
        this.#mergeField(parent, name, json, aliases)
      }
    })
    this.#changed()
  }

  /** Throws DocumentRejected for an alias that stands for no field, or for an alias. */
  #checkAlias(path: string, target: string): void {
    const type = this.field(target)?.type
    const problem =
      target === path
        ? 'an alias cannot refer to itself'
        : type === undefined || type === 'object'
          ? 'an alias must refer to an existing field in the mappings'
          : type === 'alias'
            ? 'an alias cannot refer to another alias'
            : undefined
    if (problem !== undefined) throw new DocumentRejected(`Invalid [path] value [${target}] for field alias [${path}]: ${problem}.`)
  }

  /** Merges fields. Aliases are only put on the list `aliases`. */
  #merge(parent: FieldNode, properties: Readonly<Record<string, unknown>>, aliases: GivenAlias[]): void {
    for (const [key, json] of Object.entries(properties)) {
      const names = splitKey(key)
      let node = this.#tree.nodeOf(parent)
      for (const name of names.slice(0, -1)) {
        node = node.children.get(name) ?? this.#add(node, name, { type: 'object' }, { type: 'object' })
        if (node.mapping.type !== 'object')
          throw new DocumentRejected(`can't merge a non object mapping [${node.path}] with an object mapping`, 'illegal_argument_exception')
      }
      const name = names.at(-1)!
      if (isJsonObject(json) && json['type'] === 'alias') aliases.push({ parent: node, name, json })
      else this.#mergeField(node, name, json, aliases)
    }
  }

  #mergeField(parent: FieldNode, name: string, json: unknown, aliases: GivenAlias[]): void {
    const path = childPath(parent, name)
    const mapping = parseField(path, json)
    const { properties, ...own } = objectOf(json, path)
    const known = this.#tree.nodeOf(parent).children.get(name)
    if (known !== undefined && known.mapping.type !== mapping.type)
      throw new DocumentRejected(
        `mapper [${path}] cannot be changed from type [${known.mapping.type}] to [${mapping.type}]`,
        'illegal_argument_exception',
      )
    const node = known ?? this.#add(parent, name, mapping, { type: mapping.type, ...own })
    if (known !== undefined && (mapping.fields !== undefined || mapping.target !== node.mapping.target || hasOther(node, own)))
      this.#extend(node, mapping, own)
    if (properties !== undefined) this.#merge(node, objectOf(properties, `${path}.properties`), aliases)
  }

  /** Adds multi-fields and parameters to a field that is there. */
  #extend(known: FieldNode, mapping: FieldMapping, own: Record<string, unknown>): void {
    this.#own()
    const node = this.#tree.nodeOf(known)
    const { mapping: before, json } = node
    const weight = weightOf(before)
    this.#journal.push({ kind: 'extended', node, before: { mapping: before, json } })
    node.mapping = { ...node.mapping, ...mapping, fields: { ...node.mapping.fields, ...mapping.fields } }
    const fields = { ...(node.json['fields'] as object | undefined), ...(own['fields'] as object | undefined) }
    const { meta: _meta, ...kept } = node.json
    node.json = { ...kept, ...own, ...(Object.keys(fields).length > 0 && { fields }) }
    this.#tree.count(weightOf(node.mapping) - weight)
    this.#changed()
  }

  /** `format`: of a date, where the rules name none. */
  #addDynamic(parent: FieldNode, name: string, kind: DynamicKind, format?: string): FieldNode | undefined {
    if (parent.path === '' && NOT_IN_DOCUMENTS.has(name))
      throw new DocumentRejected(
        `failed to parse field [${name}]: it is a metadata field and cannot be added inside a document. Use the index API request parameters.`,
      )
    const dynamic = textOf(dynamicOf(parent) ?? this.#dynamic)
    if (dynamic === 'false') return undefined
    if (dynamic === 'strict')
      throw new DocumentRejected(
        `mapping set to strict, dynamic introduction of [${name}] within [${parent.path === '' ? '_doc' : parent.path}] is not allowed`,
        'strict_dynamic_mapping_exception',
      )
    const path = childPath(parent, name)
    const rule = this.#rule(name, path, kind)
    if (rule === undefined) return undefined
    const json = rule['type'] === 'date' && format !== undefined ? { format, ...rule } : rule
    return this.#add(parent, name, parseField(path, json), json)
  }

  #add(parent: FieldNode, name: string, mapping: FieldMapping, json: Record<string, unknown>): FieldNode {
    const path = childPath(parent, name)
    const weight = weightOf(mapping)
    if (this.#tree.total + weight > this.#limit)
      throw new DocumentRejected(`Limit of total fields [${this.#limit}] has been exceeded`, 'illegal_argument_exception')
    if (path.split('.').length > MAX_FIELD_DEPTH)
      throw new DocumentRejected(
        `Limit of mapping depth [${MAX_FIELD_DEPTH}] has been exceeded due to object field [${path.slice(0, 200)}]`,
        'illegal_argument_exception',
      )
    this.#own()
    if (this.#limit !== Number.POSITIVE_INFINITY && SharedTree.fieldsOfAll + weight > MAX_FIELDS_OF_ALL)
      throw new DocumentRejected(
        `Limit of total fields of all indices [${MAX_FIELDS_OF_ALL}] has been exceeded`,
        'illegal_argument_exception',
      )
    const own = this.#tree.nodeOf(parent)
    const node = createNode(path, own, mapping, json)
    addChild(own, name, node)
    this.#tree.count(weight)
    this.#journal.push({ kind: 'added', node, name })
    this.#fieldsChanged()
    return node
  }

  /** To be called before a change, as other mappings may share the tree. */
  #own(): void {
    if (this.#tree.own()) this.#revision++
  }

  #changed(): void {
    this.#revision++
    this.#fieldsChanged()
  }

  #fieldsChanged(): void {
    this.#generation++
  }
}

/** Whether the metadata of a field is to be another. */
const hasOther = ({ json }: FieldNode, own: Record<string, unknown>): boolean =>
  JSON.stringify(json['meta'] ?? {}) !== JSON.stringify(own['meta'] ?? {})

function multiField({ fields }: FieldMapping, name: string): FieldMapping | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}

function dynamicOf(node: FieldNode): unknown {
  for (let each: FieldNode | undefined = node; each !== undefined; each = each.parent)
    if (each.json['dynamic'] !== undefined) return each.json['dynamic']
  return undefined
}

/** A node that takes the value; undefined where it is kept but not indexed. */
function checkKind(node: FieldNode, kind: ValueKind): FieldNode | undefined {
  const { type } = node.mapping
  if (type === 'flat_object') return node
  if (type === 'alias') throw writtenAlias(node)
  if (type === 'object') {
    if (node.mapping.index === false) return undefined
    if (kind === 'object') return node
    throw new DocumentRejected(
      `object mapping for [${node.path}] tried to parse field [${lastName(node)}] as object, but found a concrete value`,
    )
  }
  if (kind !== 'object') return node
  throw new DocumentRejected(`failed to parse field [${node.path}] of type [${type}]: expected a value but got an object`)
}

function notAnObject(path: string, at: FieldNode): DocumentRejected {
  return new DocumentRejected(
    `Could not dynamically add mapping for field [${path}]. Existing mapping for [${at.path}] must be of type object but found [${at.mapping.type}].`,
  )
}

const lastName = (node: FieldNode) => node.path.slice(node.path.lastIndexOf('.') + 1)
