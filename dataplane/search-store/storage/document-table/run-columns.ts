/** Values of the fields of a run of documents, by document; each document is read once for all of them. */

import { grown } from '../../grown.ts'
import { parseWritten } from '../../json/exact-numbers.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { classOf, eachKeyword, eachNumber, type Field, findField } from '../../query/bind/field.ts'
import { parentsOf } from '../../query/show/member-pick.ts'
import { keyReader } from '../../query/show/stored-members.ts'
import type { Column } from '../index-storage.ts'

/** Fields of an index that have columns, the first of its mapping; documents are read for the others. */
const MAX_FIELDS = 64
/** Longer values are read from the documents. */
const MAX_VALUE_LENGTH = 512
const FIRST_LENGTH = 32
/** Larger documents are parsed in part, bytes: only members that fields are in. Most of an incident is evidence, which no field is in. */
const MIN_PICKED_BYTES = 1024
/** Fields that lie deeper are not looked for by the keys that may hold them. */
const MAX_LEVELS = 32

const decoder = new TextDecoder()

export class RunColumns {
  readonly #entries: readonly { readonly source: Uint8Array }[]
  readonly #fields: ReadonlyMap<string, FieldValues>
  readonly #most: number
  readonly #parse: (source: Uint8Array) => unknown
  #read = 0

  /** `entries` may grow to `most`. */
  constructor(entries: readonly { readonly source: Uint8Array }[], most: number, mapping: IndexMapping) {
    this.#entries = entries
    this.#most = most
    const fields = fieldsOf(mapping)
    this.#fields = new Map(fields.map(field => [field.path, valuesOf(field)]))
    this.#parse = parserOf(fields)
  }

  /** Over the first `size` documents; undefined where the documents have to be read. */
  column(path: string, size: number): Column | undefined {
    const values = this.#fields.get(path)
    if (values === undefined) return undefined
    for (; this.#read < size; this.#read++) {
      const document = this.#parse(this.#entries[this.#read]!.source)
      for (const each of this.#fields.values()) each.append(document)
      if (this.#read === this.#most - 1) for (const each of this.#fields.values()) each.seal()
    }
    return values.column(size)
  }
}

interface FieldValues {
  append(document: unknown): void
  /** No document comes any more. */
  seal(): void
  column(size: number): Column | undefined
}

function fieldsOf(mapping: IndexMapping): readonly Field[] {
  const fields = mapping.paths().flatMap(path => {
    const field = mapping.field(path)?.type === 'alias' ? undefined : findField(mapping, path)
    return field?.isIndexed === true && field.kept === undefined && HAS_COLUMN.has(classOf(field)) ? [field] : []
  })
  return fields.slice(0, MAX_FIELDS)
}

/** Gives a document, or as much of it as the fields read. */
function parserOf(fields: readonly Field[]): (source: Uint8Array) => unknown {
  const whole = (source: Uint8Array) => parseWritten(decoder.decode(source))
  if (fields.some(({ sourcePath }) => sourcePath.length > MAX_LEVELS)) return whole
  const paths = fields.map(({ sourcePath }) => sourcePath.join('.'))
  const keys = new Set(paths.flatMap(path => [path, ...parentsOf(path)]))
  const read = keyReader(keys)
  return source => (source.length < MIN_PICKED_BYTES ? undefined : read(source)?.value(keys)) ?? whole(source)
}

const HAS_COLUMN: ReadonlySet<string> = new Set(['keyword', 'number', 'boolean', 'date'])

const valuesOf = (field: Field): FieldValues => (classOf(field) === 'keyword' ? new Keywords(field) : new Numbers(field))

/** Lost once a document has several values, or one that a column cannot tell. */
class Keywords implements FieldValues {
  readonly #field: Field
  #codes = new Uint16Array(FIRST_LENGTH)
  #count = 0
  readonly #dictionary = ['']
  readonly #known = new Map<string, number>()
  #isTold = true
  #shown: Column | undefined

  constructor(field: Field) {
    this.#field = field
  }

  append(document: unknown): void {
    if (!this.#isTold) return
    let code = 0
    eachKeyword(this.#field, document, value => {
      this.#isTold &&= code === 0 && value !== '' && value.length <= MAX_VALUE_LENGTH
      code = this.#known.get(value) ?? this.#dictionary.push(value) - 1
      this.#known.set(value, code)
    })
    if (this.#count === this.#codes.length) this.#codes = grown(this.#codes)
    this.#codes[this.#count++] = code
    this.#shown = undefined
    if (!this.#isTold) this.seal()
  }

  seal(): void {
    this.#known.clear()
  }

  /** Codes of documents that came later may be in the dictionary. */
  column(size: number): Column | undefined {
    if (!this.#isTold) return undefined
    if (this.#shown === undefined || (this.#shown.kind === 'keyword' && this.#shown.codes.length !== size))
      this.#shown = { kind: 'keyword', codes: this.#codes.subarray(0, size), dictionary: this.#dictionary.slice() }
    return this.#shown
  }
}

/** As `Keywords`. */
class Numbers implements FieldValues {
  readonly #field: Field
  #values = new Float64Array(FIRST_LENGTH)
  #count = 0
  #isTold = true

  constructor(field: Field) {
    this.#field = field
  }

  append(document: unknown): void {
    if (!this.#isTold) return
    let number = Number.NaN
    eachNumber(this.#field, document, value => {
      this.#isTold &&= Number.isNaN(number)
      number = value
    })
    if (this.#count === this.#values.length) this.#values = grown(this.#values)
    this.#values[this.#count++] = number
  }

  seal(): void {}

  column(size: number): Column | undefined {
    return this.#isTold ? { kind: 'number', values: this.#values.subarray(0, size) } : undefined
  }
}
