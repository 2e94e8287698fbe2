/** Fields as the mapping of an index has them written, types of OpenSearch that this store treats as others included. */
import { isJsonObject } from '../../json/is-json-object.ts'
import type { JsonObject } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import type { IndexMapping } from './field-types.ts'

export interface WrittenField {
  /** Full dotted path. */
  readonly path: string
  /** Its last part. */
  readonly name: string
  readonly json: JsonObject
}

/** Objects before the fields in them, multi-fields behind their field. */
export function writtenFields(mapping: IndexMapping): Generator<WrittenField> {
  return fieldsIn(mapping.toJson()['properties'], '')
}

function* fieldsIn(properties: unknown, prefix: string): Generator<WrittenField> {
  for (const [name, json] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!isJsonObject(json)) continue
    const path = `${prefix}${name}`
    yield { path, name, json }
    yield* fieldsIn(json['fields'], `${path}.`)
    yield* fieldsIn(json['properties'], `${path}.`)
  }
}

export const typeOf = (json: JsonObject): string => textOf(json['type'] ?? 'object')

export const isObjectType = (json: JsonObject): boolean => ['object', 'nested'].includes(typeOf(json))
