/** Parts of a mapping that this store would have to leave undone: they are refused by name where an index is made or changed. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { NORMALIZERS } from '../analysis/normalizers.ts'
import { ApiError, unsupported } from '../api-error.ts'
import type { JsonObject } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import { KEPT } from './parse-field.ts'

const ROOT_WITHOUT_EFFECT = ['properties', 'dynamic', 'dynamic_templates', 'date_detection', '_meta', '_field_names', '_size']

/** Throws 400 for what an index would have to do and this store does not; not for the mappings of indices that are there. */
export function refuseUndoneMappings(given: JsonObject): void {
  refuseDynamic(given)
  const isOff = (value: unknown) => value === undefined || textOf(value) === 'false'
  const source = isJsonObject(given['_source']) ? given['_source'] : {}
  const isEmpty = (list: unknown) => list === undefined || (Array.isArray(list) && list.length === 0)
  const undone = Object.keys(given).find(key => {
    if (ROOT_WITHOUT_EFFECT.includes(key)) return false
    if (key === '_source') return isOff(source['enabled'] ?? true) || !isEmpty(source['includes']) || !isEmpty(source['excludes'])
    if (key === '_routing') return isJsonObject(given[key]) && !isOff(given[key]['required'])
    return key !== 'numeric_detection' || !isOff(given[key])
  })
  if (undone !== undefined)
    throw unsupported(`mapping parameter [${undone}]${undone.startsWith('_') ? ` with the value ${JSON.stringify(given[undone])}` : ''}`)
  refuseFields(given['properties'], '')
  const templates = Array.isArray(given['dynamic_templates']) ? given['dynamic_templates'] : []
  for (const template of templates)
    for (const rule of isJsonObject(template) ? Object.values(template) : [])
      if (isJsonObject(rule) && isJsonObject(rule['mapping'])) refuseField('dynamic_templates', rule['mapping'])
}

/** Parameters that change no answer of this store. */
const WITHOUT_EFFECT = new Set(
  (
    'type path properties fields format dynamic enabled index ignore_above meta store norms index_options doc_values eager_global_ordinals similarity ' +
    'term_vector position_increment_gap index_prefixes index_phrases fielddata fielddata_frequency_filter split_queries_on_whitespace ' +
    'scaling_factor include_in_parent include_in_root depth_limit ignore_z_value orientation strategy preserve_separators ' +
    'preserve_position_increments max_input_length positive_score_impact'
  ).split(' '),
)

/** Values with which a parameter asks for nothing beyond the usual. */
const DONE_ANYWAY: Readonly<Record<string, (value: string) => boolean>> = {
  analyzer: isStandard,
  search_analyzer: isStandard,
  search_quote_analyzer: isStandard,
  coerce: value => value === 'true',
  ignore_malformed: value => value === 'false',
  boost: value => Number(value) === 1,
}

function isStandard(name: string): boolean {
  return name === 'standard' || name === 'default'
}

const DYNAMIC_ELSEWHERE = new Set(['strict_allow_templates', 'false_allow_templates'])

function refuseDynamic(given: Readonly<Record<string, unknown>>): void {
  const dynamic = textOf(given['dynamic'] ?? 'true')
  if (DYNAMIC_ELSEWHERE.has(dynamic)) throw unsupported(`mapping parameter [dynamic] with the value [${dynamic}]`)
}

/** Fields without parameters of their own. */
const BARE = new Set(['flat_object', 'flattened'])

function refuseField(path: string, given: Readonly<Record<string, unknown>>): void {
  const name = textOf(given['type'] ?? 'object')
  refuseDynamic(given)
  // Each document would have to have its value.
  if (name === 'constant_keyword') throw unsupported(`field type [constant_keyword] of field [${path}]`)
  if (BARE.has(name) && given['analyzer'] !== undefined)
    throw new ApiError(
      400,
      'mapper_parsing_exception',
      `Mapping definition for [${path}] has unsupported parameters:  [analyzer : ${textOf(given['analyzer'])}]`,
    )
  for (const [key, value] of Object.entries(given)) {
    if (WITHOUT_EFFECT.has(key) || value === null || (KEPT.has(name) && key !== 'contexts')) continue
    if (key === 'normalizer' && (name === 'keyword' || name === 'wildcard') && NORMALIZERS.has(textOf(value))) continue
    if (Object.hasOwn(DONE_ANYWAY, key) && DONE_ANYWAY[key]!(textOf(value))) continue
    throw unsupported(`mapping parameter [${key}] of field [${path}]${key === 'copy_to' ? '' : ` with the value [${textOf(value)}]`}`)
  }
}

function refuseFields(properties: unknown, path: string): void {
  for (const [name, field] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!isJsonObject(field)) continue
    const own = `${path}${name}`
    refuseField(own, field)
    refuseFields(field['fields'], `${own}.`)
    refuseFields(field['properties'], `${own}.`)
  }
}
