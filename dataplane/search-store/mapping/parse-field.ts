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
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new DocumentRejected(`Expected map for property [fields] on field [${path}] but got ${JSON.stringify(json)}`)
  const given = objectOf(json, path)
  const name = given['type'] ?? (given['properties'] === undefined ? undefined : 'object')
  if (name === undefined) throw new DocumentRejected(`No type specified for field [${path}]`)
  if (KEPT.has(textOf(name))) return { type: 'object', index: false, kept: textOf(name) }
  const type = SAME_AS.get(textOf(name)) ?? FIELD_TYPES.find(each => each === name)
  if (type === undefined) throw new DocumentRejected(`No handler for type [${textOf(name)}] declared on field [${lastName(path)}]`)
  return {
    type,
    ...(name === 'date_nanos' ? { nanos: true as const } : {}),
    ...(name === 'ip' ? { address: true as const } : {}),
    ...(isFalse(given['index']) || isFalse(given['enabled']) ? { index: false } : {}),
    ...(given['ignore_above'] === undefined ? {} : { ignoreAbove: Number(textOf(given['ignore_above'])) }),
    ...(given['fields'] === undefined ? {} : { fields: parseMultiFields(path, given['fields']) }),
  }
}

function parseMultiFields(path: string, json: unknown): Record<string, FieldMapping> {
  const fields: [string, FieldMapping][] = []
  for (const [name, field] of Object.entries(objectOf(json, `${path}.fields`))) fields.push([name, parseField(`${path}.${name}`, field)])
  return Object.fromEntries(fields)
}

const isFalse = (value: unknown) => value === false || value === 'false'
const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1)
