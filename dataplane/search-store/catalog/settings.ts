/** Index settings: kept flat (`index.refresh_interval`), shown nested, all values as text. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { ApiError, illegalArgument, unsupported } from '../api-error.ts'
import { parseDurationMs } from '../dates/time-value.ts'
import { readObject } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'

export type Settings = Readonly<Record<string, string | readonly string[]>>

const MAX_SETTINGS = 1000

/** Reads `{ index: { … } }`, `{ refresh_interval: … }` or flat keys. Throws 400 for values that are no settings. */
export function parseSettings(value: unknown): Settings {
  const flat = new Map<string, string | readonly string[]>()
  const visit = (object: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    if (depth > 20) throw illegalArgument('[settings] is nested too deep')
    for (const [key, item] of Object.entries(object)) {
      const path = prefix === '' ? key : `${prefix}.${key}`
      if (isJsonObject(item)) visit(item, path, depth + 1)
      else if (Array.isArray(item)) flat.set(withIndex(path), item.map(textOf))
      else if (item !== null) flat.set(withIndex(path), textOf(item))
    }
  }
  visit(readObject(value ?? {}, 'settings'), '', 1)
  if (flat.size > MAX_SETTINGS) throw illegalArgument(`[settings] may hold at most ${MAX_SETTINGS} settings`)
  return Object.fromEntries(flat)
}

/** Settings that this store does not obey, with the values that ask for nothing; any other value is refused with its name. */
const UNDONE: Readonly<Record<string, (value: string) => boolean>> = {
  'index.blocks.read_only': isFalse,
  'index.blocks.read': isFalse,
  'index.blocks.write': isFalse,
  'index.blocks.metadata': isFalse,
  'index.query_string.lenient': isFalse,
  'index.default_pipeline': value => value === '_none',
  'index.final_pipeline': value => value === '_none',
  'index.max_result_window': value => Number(value) >= 10_000,
  'index.max_terms_count': value => Number(value) >= 65_536,
  'index.max_docvalue_fields_search': value => Number(value) >= 100,
  'index.highlight.max_analyzed_offset': value => Number(value) >= 1_000_000,
  'index.analyze.max_token_count': value => Number(value) >= 10_000,
  'index.mapping.nested_objects.limit': value => Number(value) >= 10_000,
  'index.mapping.ignore_malformed': isFalse,
  'index.mapping.coerce': value => value === 'true',
}

/** Settings whose values must have a form, though nothing here depends on them. */
const CHECKED: Readonly<Record<string, (value: string, name: string) => void>> = {
  'index.number_of_shards': wholeNumber(1, 1_024),
  'index.number_of_replicas': wholeNumber(0),
  'index.refresh_interval': parseDurationMs,
}

function wholeNumber(least: number, most = 0x7fff_ffff): (value: string, name: string) => void {
  return (value, name) => {
    const refusal = `Failed to parse value [${value}] for setting [${name}]`
    if (!/^-?\d{1,10}$/.test(value)) throw illegalArgument(refusal)
    if (Number(value) < least) throw illegalArgument(`${refusal} must be >= ${least}`)
    if (Number(value) > most) throw illegalArgument(`${refusal} must be <= ${most}`)
  }
}

/** Analyzers and normalizers that fields use without naming one of the index's own: another meaning of them would change answers. Those of own names are refused where a field names them. */
const USED_UNNAMED = /^index\.analysis\.(?:analyzer\.(?:default|default_search|standard)|normalizer\.lowercase)\.(.*)$/

/** Whether a setting makes something else of such an analyzer. */
function isRedefinition(name: string, value: Settings[string]): boolean {
  const [, member] = USED_UNNAMED.exec(name) ?? []
  return member !== undefined && !(member === 'type' && value === 'standard')
}

/** Groups of settings of which nothing changes an answer here. */
const KNOWN_GROUPS = new Set(
  (
    'hidden number_of_shards number_of_replicas refresh_interval codec routing allocation merge translog search indexing unassigned lifecycle plugins ' +
    'auto_expand_replicas creation_date uuid version provided_name query mapping sort priority gc_deletes shard soft_deletes store ' +
    'max_inner_result_window max_rescore_window max_script_fields max_ngram_diff max_shingle_diff max_refresh_listeners max_regex_length ' +
    'max_slices_per_scroll highlight analyze analysis blocks write requests warmer number_of_routing_shards routing_partition_size ' +
    'load_fixed_bitset_filters_eagerly format composite_index replication knn remote_store opendistro optimize_auto_generated_id ' +
    'verified_before_close data_path flush_after_merge fielddata max_slices_per_pit append_only context derived_source'
  ).split(' '),
)

function isFalse(value: string): boolean {
  return value === 'false'
}

/** Throws 400 for settings that would have to be obeyed and are not, for those that nobody knows, and for values without the form of theirs. */
export function refuseUndone(settings: Settings): void {
  for (const [name, value] of Object.entries(settings)) {
    if (Object.hasOwn(CHECKED, name)) CHECKED[name]!(textOf(value), name)
    const isDone = Object.hasOwn(UNDONE, name) ? UNDONE[name]! : undefined
    if (name.startsWith('index.sort.') || isRedefinition(name, value)) throw unsupported(`setting [${name}]`)
    if (isDone !== undefined && !isDone(textOf(value))) throw unsupported(`setting [${name}] with the value [${textOf(value)}]`)
    if (isDone === undefined && !KNOWN_GROUPS.has(name.split('.')[1] ?? ''))
      throw new ApiError(
        400,
        'settings_exception',
        `unknown setting [${name}] please check that any required plugins are installed, or check the breaking changes documentation for removed settings`,
      )
  }
}

const withIndex = (path: string): string => (path.startsWith('index.') ? path : `index.${path}`)

type SettingTree = Map<string, SettingTree | Settings[string]>

export function nestSettings(settings: Settings): Record<string, unknown> {
  const root: SettingTree = new Map()
  for (const [path, value] of Object.entries(settings)) {
    const names = path.split('.')
    let node = root
    for (const name of names.slice(0, -1)) {
      const known = node.get(name)
      const next: SettingTree = known instanceof Map ? known : new Map()
      node.set(name, next)
      node = next
    }
    node.set(names.at(-1)!, value)
  }
  return objectOf(root)
}

function objectOf(tree: SettingTree): Record<string, unknown> {
  return Object.fromEntries([...tree].map(([name, value]) => [name, value instanceof Map ? objectOf(value) : value]))
}

/** `index.mapping.total_fields.limit`, where set. Throws 400 when it is no positive integer. */
export function totalFieldsLimit(settings: Settings): number | undefined {
  const value = settings['index.mapping.total_fields.limit']
  if (value === undefined) return undefined
  const limit = Number(value)
  if (Number.isInteger(limit) && limit >= 0) return limit
  throw illegalArgument(`Failed to parse value [${textOf(value)}] for setting [index.mapping.total_fields.limit]`)
}
