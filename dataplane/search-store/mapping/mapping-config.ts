/** The fields of a new index, as its creator describes them. `properties` and `dynamicTemplates` as OpenSearch's JSON has them. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { textOf } from '../json/text-of.ts'
export interface MappingConfig {
  readonly properties?: Readonly<Record<string, unknown>>
  /** `[{ name: { match_mapping_type?, match?, unmatch?, path_match?, path_unmatch?, mapping } }]`; the first that fits wins. */
  readonly dynamicTemplates?: readonly Readonly<Record<string, unknown>>[]
  /** New fields: true adds them, false keeps them in `_source` alone, `strict` refuses the document. Default true. */
  readonly dynamic?: boolean | 'true' | 'false' | 'strict'
  /** Whether new string fields that look like dates become dates. Default true. */
  readonly dateDetection?: boolean
  /** `index.mapping.total_fields.limit`; default 1000. */
  readonly totalFieldsLimit?: number
}

/** Reads the `mappings` object of an index or a template; throws TypeError when it is none. */
export function mappingConfigOf(mappings: unknown, totalFieldsLimit?: number): MappingConfig {
  const given = objectOf(mappings ?? {}, 'mappings')
  const dynamic = given['dynamic']
  if (dynamic !== undefined && !['true', 'false', 'strict'].includes(textOf(dynamic)))
    throw new TypeError(`mappings.dynamic: expected true, false or strict, got ${JSON.stringify(dynamic)}`)
  const templates = given['dynamic_templates']
  if (templates !== undefined && !Array.isArray(templates))
    throw new TypeError(`mappings.dynamic_templates: expected an array, got ${JSON.stringify(templates)}`)
  return {
    properties: objectOf(given['properties'] ?? {}, 'mappings.properties'),
    ...(templates === undefined ? {} : { dynamicTemplates: templates.map(each => objectOf(each, 'mappings.dynamic_templates')) }),
    ...(dynamic === undefined ? {} : { dynamic: textOf(dynamic) as 'true' | 'false' | 'strict' }),
    ...(given['date_detection'] === undefined ? {} : { dateDetection: textOf(given['date_detection']) === 'true' }),
    ...(totalFieldsLimit === undefined ? {} : { totalFieldsLimit }),
  }
}

export function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (!isJsonObject(value)) throw new TypeError(`${name}: expected an object, got ${JSON.stringify(value)}`)
  return value
}
