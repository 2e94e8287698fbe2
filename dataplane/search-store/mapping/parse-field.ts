/** The mapping of one field, read from its JSON: its type, its parameters, what is refused by name. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { NORMALIZERS } from '../analysis/normalizers.ts'
import { parseDateFormat } from '../dates/date-format.ts'
import { textOf } from '../json/text-of.ts'
import { DocumentRejected } from './document-rejected.ts'
import { FIELD_TYPES, type FieldMapping, type FieldType } from './field-types.ts'
import { objectOf } from './mapping-config.ts'

/** Types that OpenSearch has and this store treats as another. */
const SAME_AS: ReadonlyMap<string, FieldType> = new Map([
  ['half_float', 'float'],
  ['scaled_float', 'double'],
  ['nested', 'object'],
  ['constant_keyword', 'keyword'],
  ['wildcard', 'keyword'],
  ['ip', 'keyword'],
  ['date_nanos', 'date'],
  ['flattened', 'flat_object'],
])

/** Types whose values are kept in `_source`; queries on them are refused. */
export const KEPT = new Set([
  'geo_point',
  'geo_shape',
  'binary',
  'completion',
  'token_count',
  'rank_feature',
  'rank_features',
  'point',
  'shape',
])

/** Reads one field of a `properties` object; refuses types that this store does not have. */
export function parseField(path: string, json: unknown): FieldMapping {
  if (!isJsonObject(json))
    throw new DocumentRejected(`Expected map for property [fields] on field [${path}] but got ${JSON.stringify(json)}`)
  const given = objectOf(json, path)
  const name = given['type'] ?? (given['properties'] === undefined ? undefined : 'object')
  if (name === undefined) throw new DocumentRejected(`No type specified for field [${path}]`)
  if (KEPT.has(textOf(name))) return { type: 'object', index: false, kept: textOf(name) }
  if (name === 'alias') return parseAlias(path, given)
  const type = SAME_AS.get(textOf(name)) ?? FIELD_TYPES.find(each => each === name)
  if (type === undefined) throw new DocumentRejected(`No handler for type [${textOf(name)}] declared on field [${lastName(path)}]`)
  return {
    type,
    ...(name === 'date_nanos' ? { nanos: true as const } : {}),
    ...(type === 'date' && given['format'] !== undefined ? ownFormat(textOf(given['format'])) : {}),
    ...(name === 'ip' ? { address: true as const } : {}),
    ...(type === 'keyword' && NORMALIZERS.has(textOf(given['normalizer'] ?? '')) ? { normalizer: textOf(given['normalizer']) } : {}),
    ...(isFalse(given['index']) || isFalse(given['enabled']) ? { index: false } : {}),
    ...(given['ignore_above'] === undefined ? {} : { ignoreAbove: Number(textOf(given['ignore_above'])) }),
    ...(given['fields'] === undefined ? {} : { fields: parseMultiFields(path, given['fields']) }),
  }
}

function parseAlias(path: string, { type: _type, path: target, ...others }: Readonly<Record<string, unknown>>): FieldMapping {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new DocumentRejected(`Mapping definition for [${path}] has unsupported parameters:  [${unknown} : ${textOf(others[unknown])}]`)
  if (target === undefined) throw new DocumentRejected(`The [path] property must be specified for field [${path}].`)
  return { type: 'alias', target: textOf(target) }
}

/** The formats that dates without one are read by. */
const USUAL_FORMATS = new Set([
  ...['strict_date_optional_time', 'date_optional_time', 'strict_date_optional_time_nanos', 'epoch_millis', 'strict_date_time'],
  ...['strict_date_time_no_millis', 'date_time', 'date_time_no_millis'],
])

/** Nothing for the usual ones. Throws 400 for a format that this store does not have. */
function ownFormat(format: string): { format?: string } {
  if (format.split('||').every(part => USUAL_FORMATS.has(part.trim()))) return {}
  return { format: parseDateFormat(format).name }
}

function parseMultiFields(path: string, json: unknown): Record<string, FieldMapping> {
  const fields: [string, FieldMapping][] = []
  for (const [name, field] of Object.entries(objectOf(json, `${path}.fields`))) {
    const mapping = parseField(`${path}.${name}`, field)
    if (mapping.type === 'alias') throw new DocumentRejected(`Type [alias] cannot be used in multi field`)
    fields.push([name, mapping])
  }
  return Object.fromEntries(fields)
}

const isFalse = (value: unknown) => value === false || value === 'false'
const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1)
