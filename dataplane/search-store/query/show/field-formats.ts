/** The `fields` and `docvalue_fields` members of a search: values of a hit, by field. */

import { normalized } from '../../analysis/normalizers.ts'
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { type DateFormat, parseDateFormat } from '../../dates/date-format.ts'
import { UTC } from '../../dates/time-zone.ts'
import { isObject, readArray, readString, refuseUnknown } from '../../json/json-reader.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { classOf, eachLeaf, eachNumber, type Field, findField, formatOf, refuseKept, shortestFloat } from '../bind/field.ts'

export interface FieldFormat {
  /** A field name, or a pattern with `*`. */
  readonly pattern: string
  readonly format?: DateFormat
  /** Whether a name fits, where the pattern is more than a name; each name is looked at once. */
  readonly names?: (path: string) => boolean
}

const MAX_FIELDS = 100

export function parseFieldFormats(value: unknown, where: string): readonly FieldFormat[] {
  if (value === undefined) return []
  const items = readArray(value, where)
  if (items.length > MAX_FIELDS) throw illegalArgument(`[${where}] may hold at most ${MAX_FIELDS} entries, found ${items.length}`)
  return items.map(item => {
    if (!isObject(item)) return withNames({ pattern: readString(item, where) })
    refuseUnknown(item, where, ['field', 'format'])
    const pattern = readString(item['field'], `${where}.field`)
    if (item['format'] === undefined || item['format'] === 'use_field_mapping') return withNames({ pattern })
    return withNames({ pattern, format: parseDateFormat(readString(item['format'], `${where}.format`)) })
  })
}

function withNames(format: FieldFormat): FieldFormat {
  if (!format.pattern.includes('*')) return format
  const { test } = wildcardPattern(format.pattern, false)
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
  (mapping: IndexMapping, source: unknown): Record<string, readonly unknown[]>
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
  const show = (mapping: IndexMapping, source: unknown) => {
    const fields = fieldsOf(mapping)
    const shown = new Map<string, readonly unknown[]>()
    for (const { path, field, format } of fields) {
      const values = valuesOf(field, source, format)
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
  for (const { pattern, format, names } of last.values())
    for (const path of names === undefined ? [pattern] : mapping.paths().filter(names)) {
      const field = findField(mapping, path)
      if (field !== undefined && names === undefined) refuseKept(field)
      if (field !== undefined && format !== undefined && names === undefined && classOf(field) !== 'date')
        throw unsupported(`the format [${format.name}] of the field [${path}] of type [${field.type}]`)
      if (field !== undefined && classOf(field) !== 'object') found.set(path, { path, field, format })
    }
  return [...found.values()]
}

function valuesOf(field: Field, source: unknown, format: DateFormat | undefined): readonly unknown[] {
  const values: unknown[] = []
  const fieldClass = classOf(field)
  if (fieldClass === 'date') eachNumber(field, source, ms => values.push((format ?? formatOf(field)).print(ms, UTC)))
  else if (fieldClass === 'number') eachNumber(field, source, value => values.push(field.type === 'float' ? shortestFloat(value) : value))
  else if (fieldClass === 'boolean') eachNumber(field, source, value => values.push(value === 1))
  else
    eachLeaf(source, field.sourcePath, leaf => {
      const text = String(leaf)
      if (text.length <= field.ignoreAbove) values.push(normalized(text, field.normalizer))
    })
  return values
}
