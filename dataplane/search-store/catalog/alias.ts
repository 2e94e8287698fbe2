/** Aliases as an index keeps them. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { type JsonObject, readBoolean, readObject, refuseUnknown } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import { parseQuery } from '../query/parse/parse.ts'
import { checkAliasName } from './index-name.ts'

export interface AliasConfig {
  /** Query DSL: through the alias only these documents are seen. */
  readonly filter?: JsonObject
  readonly is_write_index?: boolean
  readonly index_routing?: string
  readonly search_routing?: string
  readonly is_hidden?: boolean
}

const ALIAS_KEYS = ['filter', 'is_write_index', 'index_routing', 'search_routing', 'routing', 'is_hidden']

/** Throws 400 where the name or the filter is not valid. */
export function parseAlias(name: string, value: unknown): AliasConfig {
  checkAliasName(name)
  const content = readObject(value ?? {}, `alias ${name}`)
  refuseUnknown(content, `alias ${name}`, ALIAS_KEYS)
  if (isJsonObject(content['filter'])) parseQuery(content['filter'])
  const routing = content['routing']
  const indexRouting = content['index_routing'] ?? routing
  const searchRouting = content['search_routing'] ?? routing
  return {
    ...(content['filter'] !== undefined && content['filter'] !== null && { filter: readObject(content['filter'], `alias ${name}.filter`) }),
    ...(content['is_write_index'] !== undefined && { is_write_index: readBoolean(content['is_write_index'], 'is_write_index') }),
    ...(indexRouting !== undefined && { index_routing: textOf(indexRouting) }),
    ...(searchRouting !== undefined && { search_routing: textOf(searchRouting) }),
    ...(content['is_hidden'] !== undefined && { is_hidden: readBoolean(content['is_hidden'], 'is_hidden') }),
  }
}

export function parseAliases(value: unknown): Readonly<Record<string, AliasConfig>> {
  return Object.fromEntries(Object.entries(readObject(value ?? {}, 'aliases')).map(([name, config]) => [name, parseAlias(name, config)]))
}
