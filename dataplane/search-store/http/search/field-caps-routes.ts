/** `_field_caps`: fields and their types over several indices, as dashboards ask for them. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { type JsonObject, words } from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { KEPT } from '../../mapping/parse-field.ts'
import { isObjectType, typeOf, writtenFields } from '../../mapping/written-fields.ts'
import { Turns } from '../../turns.ts'
import { listingReply } from '../answer/listing.ts'
import type { Reply } from '../answer/reply.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from '../request/index-parameters.ts'
import { createNameMatcher } from '../request/name-matcher.ts'
import { type Call, type Route, routes } from '../route.ts'

const PARAMETERS = [...INDEX_PARAMETERS, ...NODE_PARAMETERS, 'fields', 'include_unmapped']

export const FIELD_CAPS_ROUTES: readonly Route[] = routes(
  ['GET', 'POST'],
  ['/_field_caps', '/:index/_field_caps'],
  PARAMETERS,
  fieldCapabilities,
)

async function fieldCapabilities(call: Call): Promise<Reply> {
  const body = call.json()
  const wanted = body['fields'] ?? call.query.get('fields')
  if (wanted === undefined || wanted === null) throw illegalArgument("specified fields can't be null or empty")
  const isWanted = createNameMatcher(Array.isArray(wanted) ? wanted.map(textOf) : textOf(wanted).split(','))
  if (body['index_filter'] !== undefined) throw unsupported('_field_caps parameter [index_filter]')
  const includesUnmapped = booleanParameter(call.query, 'include_unmapped')
  const turns = new Turns()
  const indices = resolveIndices(call).map(({ index }) => index)
  const fields = new Map<string, Map<string, Capability[]>>()
  for (const { name, storage } of indices) {
    for (const [path, own] of capabilitiesOf(storage.mapping)) {
      if (!isWanted(path)) continue
      const byType = fields.get(path) ?? new Map<string, Capability[]>()
      fields.set(path, byType)
      const known = byType.get(own.type)
      if (known === undefined) byType.set(own.type, [{ ...own, index: name }])
      else known.push({ ...own, index: name })
    }
    if (turns.isDue()) await turns.next()
  }
  const names = indices.map(({ name }) => name)
  const members = Array.from(fields, ([path, byType]) => [path, showCapabilities(byType, includesUnmapped ? names : [])] as const)
  return listingReply(call, { head: { indices: names }, under: 'fields', members })
}

/** How a field can be used in one index. */
interface Capability {
  readonly index: string
  readonly type: string
  readonly searchable: boolean
  readonly aggregatable: boolean
  readonly meta: JsonObject
}

/** Fields that every index has. */
const METADATA: readonly (readonly [string, Pick<Capability, 'searchable' | 'aggregatable'>])[] = [
  ['_id', { searchable: true, aggregatable: false }],
  ['_index', { searchable: true, aggregatable: true }],
  ...words('_source _routing _seq_no _version _ignored _field_names').map(
    name => [name, { searchable: false, aggregatable: false }] as const,
  ),
]

const WITHOUT_VALUES = new Set(['text', 'match_only_text', 'object', 'nested'])

const isFalse = (value: unknown): boolean => value === false || value === 'false'

/** Yields the fields of an index and the objects around them. */
function* capabilitiesOf(mapping: IndexMapping): Generator<readonly [string, Omit<Capability, 'index'>]> {
  for (const [name, own] of METADATA) yield [name, { type: name, ...own, meta: {} }]
  const written = new Map(Array.from(writtenFields(mapping), ({ path, json }) => [path, json]))
  for (const [path, own] of written) {
    // An alias is as the field that it stands for.
    const json = typeOf(own) === 'alias' ? (written.get(textOf(own['path'])) ?? own) : own
    const type = typeOf(json)
    const isKept = KEPT.has(type)
    yield [
      path,
      {
        type,
        searchable: !(isKept || isObjectType(json) || isFalse(json['index'])),
        aggregatable: !(isKept || WITHOUT_VALUES.has(type) || isFalse(json['doc_values'])),
        meta: isJsonObject(json['meta']) ? json['meta'] : {},
      },
    ]
  }
}

/** Indices are named where there are several types; `all` also tells of those without the field. */
function showCapabilities(byType: ReadonlyMap<string, readonly Capability[]>, all: readonly string[]): Record<string, unknown> {
  const mapped = new Set([...byType.values()].flat().map(({ index }) => index))
  const others = all.filter(name => !mapped.has(name))
  const hasSeveral = byType.size + Number(others.length > 0) > 1
  const entries = Array.from(byType, ([type, own]): [string, unknown] => [type, showType(type, own, hasSeveral)])
  if (others.length > 0) entries.push(['unmapped', { type: 'unmapped', searchable: false, aggregatable: false, indices: others }])
  return Object.fromEntries(entries)
}

function showType(type: string, own: readonly Capability[], hasSeveral: boolean): Record<string, unknown> {
  const namesOf = (which: readonly Capability[]): readonly string[] => which.map(({ index }) => index)
  const [unsearchable, unaggregatable] = [own.filter(({ searchable }) => !searchable), own.filter(({ aggregatable }) => !aggregatable)]
  const isMixed = (some: readonly Capability[]): boolean => some.length > 0 && some.length < own.length
  const meta = new Map<string, Set<string>>()
  for (const [key, value] of own.flatMap(each => Object.entries(each.meta))) meta.set(key, (meta.get(key) ?? new Set()).add(textOf(value)))
  return {
    ...{ type, searchable: unsearchable.length === 0, aggregatable: unaggregatable.length === 0 },
    ...(hasSeveral && { indices: namesOf(own) }),
    ...(isMixed(unsearchable) && { non_searchable_indices: namesOf(unsearchable) }),
    ...(isMixed(unaggregatable) && { non_aggregatable_indices: namesOf(unaggregatable) }),
    ...(meta.size > 0 && { meta: Object.fromEntries(Array.from(meta, ([key, values]) => [key, [...values].sort()])) }),
  }
}
