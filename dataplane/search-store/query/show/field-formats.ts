/** The `fields` and `docvalue_fields` members of a search: values of a hit, by field. */

import { isJsonObject } from '../../../json/is-json-object.ts'
import { compareTexts } from '../../analysis/compare-texts.ts'
import { normalized } from '../../analysis/normalizers.ts'
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { type DateFormat, parseDateFormat } from '../../dates/date-format.ts'
import { UTC } from '../../dates/time-zone.ts'
import { rawNumber, WrittenNumber } from '../../json/exact-numbers.ts'
import { readArray, readString, refuseUnknown } from '../../json/json-reader.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { parseAddress, printAddress } from '../../mapping/ip-address.ts'
import {
  classOf,
  eachExact,
  eachLeaf,
  eachNumber,
  type Field,
  findField,
  formatOf,
  isExact,
  isLarge,
  refuseKept,
  shortestFloat,
} from '../bind/field.ts'

export interface FieldFormat {
  /** A field name, or a pattern with `*`. */
  readonly pattern: string
  /** `docvalue_fields`: the values as the field holds them, in their order, and not as the document has them. */
  readonly isDocValue: boolean
  readonly format?: DateFormat
  /** Whether a name fits, where the pattern is more than a name; each name is looked at once. */
  readonly names?: (path: string) => boolean
}

const MAX_FIELDS = 100

export function parseFieldFormats(value: unknown, where: 'fields' | 'docvalue_fields'): readonly FieldFormat[] {
  if (value === undefined) return []
  const items = readArray(value, where)
  if (items.length > MAX_FIELDS) throw illegalArgument(`[${where}] may hold at most ${MAX_FIELDS} entries, found ${items.length}`)
  const isDocValue = where === 'docvalue_fields'
  return items.map(item => {
    if (!isJsonObject(item)) return withNames({ pattern: readString(item, where), isDocValue })
    refuseUnknown(item, where, ['field', 'format'])
    const pattern = readString(item['field'], `${where}.field`)
    if (item['format'] === undefined || item['format'] === 'use_field_mapping') return withNames({ pattern, isDocValue })
    return withNames({ pattern, isDocValue, format: parseDateFormat(readString(item['format'], `${where}.format`)) })
  })
}

function withNames(format: FieldFormat): FieldFormat {
  if (!format.pattern.includes('*')) return format
  const { test } = wildcardPattern(format.pattern)
  const known = new Map<string, boolean>()
  const names = (path: string): boolean => {
    const fits = known.get(path) ?? test(path)
    known.set(path, fits)
    return fits
  }
  return { ...format, names }
}

/** Field → values, for the fields that a document has. */
export interface ShowFields {
  /** `exact` reads the document with all digits of its numbers. */
  (mapping: IndexMapping, source: unknown, exact: () => unknown): Record<string, readonly unknown[]>
  /** The fields, where the string that stands in a document is what is shown of each; undefined where it is more than that. */
  plainFields(mapping: IndexMapping): readonly PlainField[] | undefined
}

export interface PlainField {
  readonly path: string
  /** UTF-16 units of the longest value that is shown. */
  readonly ignoreAbove: number
}

/** For the hits of one search: looks the fields up once for each index. */
export function fieldsShown(formats: readonly FieldFormat[]): ShowFields {
  const known = new Map<IndexMapping, readonly ShownField[]>()
  const fieldsOf = (mapping: IndexMapping): readonly ShownField[] => {
    const fields = known.get(mapping) ?? findFields(formats, mapping)
    known.set(mapping, fields)
    return fields
  }
  const plain = new Map<IndexMapping, readonly PlainField[] | undefined>()
  const plainFields = (mapping: IndexMapping): readonly PlainField[] | undefined => {
    if (plain.has(mapping)) return plain.get(mapping)
    const fields = fieldsOf(mapping)
    const found = fields.every(isPlain) ? fields.map(({ path, field: { ignoreAbove } }) => ({ path, ignoreAbove })) : undefined
    plain.set(mapping, found)
    return found
  }
  const show = (mapping: IndexMapping, source: unknown, exact: () => unknown) => {
    const fields = fieldsOf(mapping)
    const shown = new Map<string, readonly unknown[]>()
    for (const { path, ...field } of fields) {
      const values = valuesOf(field, source, exact)
      if (values.length > 0) shown.set(path, values)
    }
    return Object.fromEntries(shown)
  }
  return Object.assign(show, { plainFields })
}

function isPlain({ path, field }: ShownField): boolean {
  return field.type === 'keyword' && field.normalizer === undefined && field.sourcePath.join('.') === path
}

interface ShownField {
  /** As asked for. */
  readonly path: string
  readonly field: Field
  readonly format: DateFormat | undefined
  readonly isDocValue: boolean
}

/** Each field once. Throws 400 for one that is asked for in several formats, has none, or has no values here. */
function findFields(formats: readonly FieldFormat[], mapping: IndexMapping): readonly ShownField[] {
  const last = new Map<string, FieldFormat>()
  for (const each of formats) {
    const before = last.get(each.pattern)
    if (before?.format !== undefined && each.format !== undefined && before.format.name !== each.format.name)
      throw unsupported(`the field [${each.pattern}] in several formats`)
    last.delete(each.pattern)
    last.set(each.pattern, each)
  }
  const found = new Map<string, ShownField>()
  for (const { pattern, format, names, isDocValue } of last.values())
    for (const path of names === undefined ? [pattern] : mapping.paths().filter(names)) {
      const field = findField(mapping, path)
      if (field !== undefined && names === undefined) refuseKept(field)
      if (field !== undefined && format !== undefined && names === undefined && classOf(field) !== 'date')
        throw unsupported(`the format [${format.name}] of the field [${path}] of type [${field.type}]`)
      if (field !== undefined && classOf(field) !== 'object') found.set(path, { path, field, format, isDocValue })
    }
  return [...found.values()]
}

/** In the order of the document; doc values in their own, texts once each. */
function valuesOf({ field, format, isDocValue }: Omit<ShownField, 'path'>, source: unknown, exact: () => unknown): readonly unknown[] {
  const fieldClass = classOf(field)
  if (fieldClass !== 'date' && fieldClass !== 'number' && fieldClass !== 'boolean') return textsOf(field, source, isDocValue)
  const numbers: (number | bigint)[] = []
  eachNumber(field, source, value => numbers.push(value))
  if (fieldClass === 'number' && isExact(field) && numbers.some(value => isLarge(Number(value)))) {
    numbers.length = 0
    eachExact(field, exact(), value => numbers.push(value))
  }
  if (isDocValue) numbers.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  if (fieldClass === 'date') return numbers.map(ms => (format ?? formatOf(field)).print(Number(ms), UTC))
  if (fieldClass === 'boolean') return numbers.map(value => value === 1)
  const isShort = field.type === 'float' && !isDocValue
  return numbers.map(value => (typeof value === 'bigint' ? rawNumber(value) : isShort ? shortestFloat(value) : value))
}

function textsOf(field: Field, source: unknown, isDocValue: boolean): readonly string[] {
  const texts: string[] = []
  eachLeaf(source, field.sourcePath, leaf => {
    // A document's fractions are shown as numbers are.
    const text = leaf instanceof WrittenNumber && !leaf.isWhole && !isDocValue ? String(leaf.valueOf()) : String(leaf)
    const address = field.isAddress ? parseAddress(text) : undefined
    if (address !== undefined) texts.push(printAddress(address))
    else if (text.length <= field.ignoreAbove) texts.push(normalized(text, field.normalizer))
  })
  if (!isDocValue || texts.length < 2) return texts
  const order = field.isAddress ? compareAddresses : compareTexts
  return [...new Set(texts)].sort(order)
}

const compareAddresses = (a: string, b: string): number => (parseAddress(a)! < parseAddress(b)! ? -1 : 1)
