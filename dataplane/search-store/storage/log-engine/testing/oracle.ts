import { analyze } from '../../../analysis/standard-analyzer.ts'
import type { FieldMapping } from '../../../mapping/field-types.ts'
import { createMapping, type MutableMapping } from '../../../mapping/mapping.ts'
import type { MappingConfig } from '../../../mapping/mapping-config.ts'
import { isNumberType, keywordText, type Leaf, numberOf } from '../../../mapping/values.ts'
import type { StoredDocument, WriteOp, WriteOutcome } from '../../index-storage.ts'

/** The right answers of an index, kept the naive way: parsed documents in a map. */
export interface Oracle {
  apply(op: WriteOp): WriteOutcome
  readonly documents: ReadonlyMap<string, StoredDocument>
  /** Ids of the documents that hold the term, sorted. */
  idsWith(field: string, term: string): string[]
  /** All `[field, term]` pairs of all documents. */
  terms(): [string, string][]
  /** Per id the numbers of a field. */
  numbers(field: string): Map<string, number[]>
  readonly mapping: MutableMapping
}

interface Indexed {
  readonly terms: Set<string>
  readonly numbers: Map<string, number[]>
}

export function createOracle(config: MappingConfig): Oracle {
  const mapping = createMapping(config)
  const documents = new Map<string, StoredDocument>()
  const indexed = new Map<string, Indexed>()
  let seqNo = 0

  function write(id: string, source: Uint8Array): WriteOutcome {
    let entry: Indexed
    try {
      entry = indexOf(mapping, source)
    } catch (error) {
      return { error: { type: (error as { type: string }).type, reason: (error as Error).message, status: 400 } }
    }
    const before = documents.get(id)
    const version = (before?.version ?? 0) + 1
    documents.set(id, { id, seqNo, version, source })
    indexed.set(id, entry)
    return { result: before === undefined ? 'created' : 'updated', seqNo: seqNo++, version }
  }

  function apply(op: WriteOp): WriteOutcome {
    const current = documents.get(op.id)
    const conflicts = op.ifSeqNo !== undefined && op.ifSeqNo !== current?.seqNo
    if (conflicts || (op.action === 'create' && current !== undefined))
      return { error: { type: 'version_conflict_engine_exception', reason: '', status: 409 } }
    if (op.action === 'delete') {
      if (current === undefined) return { result: 'not_found', seqNo: seqNo++, version: 1 }
      documents.delete(op.id)
      indexed.delete(op.id)
      return { result: 'deleted', seqNo: seqNo++, version: current.version + 1 }
    }
    if (op.action !== 'update') return write(op.id, op.source)
    if (current === undefined)
      return op.upsert === undefined ? { error: { type: 'document_missing_exception', reason: '', status: 404 } } : write(op.id, op.upsert)
    const before = JSON.parse(Buffer.from(current.source).toString()) as object
    const merged = { ...before, ...(JSON.parse(Buffer.from(op.partial).toString()) as object) }
    if (JSON.stringify(merged) === JSON.stringify(before)) return { result: 'noop', seqNo: current.seqNo, version: current.version }
    return write(op.id, Buffer.from(JSON.stringify(merged)))
  }

  return {
    apply,
    documents,
    mapping,
    idsWith: (field, term) =>
      [...indexed]
        .filter(([, { terms }]) => terms.has(`${field}\0${term}`))
        .map(([id]) => id)
        .sort(),
    terms: () => [...new Set([...indexed.values()].flatMap(({ terms }) => [...terms]))].map(key => key.split('\0') as [string, string]),
    numbers: field => new Map([...indexed].map(([id, { numbers }]) => [id, numbers.get(field) ?? []])),
  }
}

function indexOf(mapping: MutableMapping, source: Uint8Array): Indexed {
  const terms = new Set<string>()
  const numbers = new Map<string, number[]>()
  const add = (path: string, field: FieldMapping, value: Leaf) => {
    if (field.index === false) return
    if (field.type === 'text') for (const term of analyze(keywordText(value))) terms.add(`${path}\0${term}`)
    else if (isNumberType(field.type) || field.type === 'boolean' || field.type === 'date') {
      const number = numberOf(path, field, value)
      if (number !== undefined) numbers.set(path, [...(numbers.get(path) ?? []), number])
    } else if (keywordText(value).length <= (field.ignoreAbove ?? Number.POSITIVE_INFINITY)) terms.add(`${path}\0${keywordText(value)}`)
    for (const [name, sub] of Object.entries(field.fields ?? {})) add(`${path}.${name}`, sub, value)
  }
  mapping.parse(source, (path, field, value) => {
    add(path, field, value)
    if (path.startsWith('attributes.')) add('attributes', field, value)
  })
  return { terms, numbers }
}
