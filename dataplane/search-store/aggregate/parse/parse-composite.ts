/** The `composite` aggregation: buckets for all combinations of some sources, a page at a time. */
import { illegalArgument, unsupported } from '../../api-error.ts'
import { optionalBoolean, readArray, readInteger, readObject, readSingleEntry, readString, refuseUnknown } from '../../json/json-reader.ts'
import type { BucketSpec, CompositeSource, CompositeValue } from '../spec.ts'
import { BUCKET_PARSERS, MAX_BUCKETS, readField, tooManyBuckets } from './parse-buckets.ts'

const MAX_SOURCES = 32
/** Members that every source may have, beside those of its kind. */
const SOURCE_KEYS = ['missing_bucket', 'missing_order', 'order'] as const

export function parseComposite(body: unknown): BucketSpec {
  const content = readObject(body, 'composite')
  refuseUnknown(content, 'composite', ['sources', 'size', 'after'])
  if (content['sources'] === undefined) throw illegalArgument('Required [sources]')
  const sources = readArray(content['sources'], 'composite.sources').map(parseSource)
  if (sources.length === 0) throw illegalArgument('Composite [sources] cannot be null or empty')
  if (sources.length > MAX_SOURCES)
    throw illegalArgument(`[composite.sources] may hold at most ${MAX_SOURCES} entries, found ${sources.length}`)
  const twice = sources.filter(({ name }, at) => sources.findIndex(other => other.name === name) < at).map(({ name }) => name)
  if (twice.length > 0) throw illegalArgument(`Composite source names must be unique, found duplicates: [${twice.join(', ')}]`)
  return {
    type: 'composite',
    sources,
    size: content['size'] === undefined ? 10 : readSize(content['size']),
    ...(content['after'] !== undefined && { after: readAfter(content['after'], sources) }),
  }
}

function readSize(value: unknown): number {
  const size = readInteger(value, 'composite.size', 1)
  if (size > MAX_BUCKETS) throw tooManyBuckets(size)
  return size
}

function parseSource(item: unknown): CompositeSource {
  const [name, definition] = readSingleEntry(item, 'composite.sources')
  const [kind, body] = readSingleEntry(definition, `composite.sources.${name}`)
  if (kind !== 'terms' && kind !== 'histogram' && kind !== 'date_histogram') throw unsupported(`[composite] source [${kind}]`)
  const content = readObject(body, `composite.sources.${name}.${kind}`)
  const own = Object.fromEntries(Object.entries(content).filter(([key]) => !(SOURCE_KEYS as readonly string[]).includes(key)))
  for (const key of ['size', 'min_doc_count', 'keyed', 'missing', 'include', 'exclude', 'extended_bounds', 'hard_bounds'])
    if (own[key] !== undefined) throw illegalArgument(`[${kind}] unknown field [${key}]`)
  const order = content['order'] === undefined ? 'asc' : readString(content['order'], `composite.sources.${name}.order`).toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw illegalArgument(`invalid order [${order}]: expected [asc] or [desc]`)
  const missingOrder =
    content['missing_order'] === undefined ? 'default' : readString(content['missing_order'], 'missing_order').toLowerCase()
  if (!['first', 'last', 'default'].includes(missingOrder)) throw illegalArgument(`invalid missing_order [${missingOrder}]`)
  const hasMissing = optionalBoolean(content, 'missing_bucket')
  if (missingOrder !== 'default' && !hasMissing) throw illegalArgument('missingOrder can only be specified if missingBucket is true')
  return {
    name,
    field: readField(content, kind),
    grid: kind === 'terms' ? undefined : (BUCKET_PARSERS[kind]!(own, name) as CompositeSource['grid']),
    showsText: own['format'] !== undefined,
    isAscending: order === 'asc',
    hasMissing,
    isMissingFirst: missingOrder === 'default' ? order === 'asc' : missingOrder === 'first',
  }
}

function readAfter(value: unknown, sources: readonly CompositeSource[]): readonly CompositeValue[] {
  const content = readObject(value, 'composite.after')
  const count = Object.keys(content).length
  if (count !== sources.length && count > 0 && sources.every(({ name }) => Object.hasOwn(content, name)))
    throw illegalArgument(`[after] has ${count} value(s) but [sources] has ${sources.length}`)
  return sources.map(({ name, hasMissing }) => {
    const given = content[name]
    if (given === null && hasMissing) return null
    if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean')
      throw illegalArgument(`Missing value for [after.${name}]`)
    return given
  })
}
