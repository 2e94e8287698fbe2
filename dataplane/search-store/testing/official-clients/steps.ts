/** The steps of a script that two stores answered, and where their answers differ. */

/** The name of a step, and the answer as the client gave it. */
export type Step = readonly [name: string, answer: unknown]

/**
 * Members that each store has its own values for, or that it is no use to compare: times, ids that the store makes up, scores, counts of shards,
 * the words of refusals, and sequence numbers, which the embedded store does not count within one shard.
 */
const OWN = new Set([
  ...[
    'took',
    'terminated_early',
    '_scroll_id',
    'pit_id',
    '_shards',
    '_score',
    'max_score',
    'reason',
    'phase',
    'grouped',
    'failed_shards',
    'root_cause',
  ],
  ...['index_uuid', 'shard', 'caused_by', 'line', 'col', '_seq_no', '_primary_term', 'uuid', 'resource.id', 'resource.type'],
  ...['cluster_uuid', 'build_type', 'build_hash', 'build_date', 'publish_address'],
])
/** Figures are added up in another order. */
const DIGITS = 10

/** A line for each difference. */
export function differencesOf(real: readonly Step[], embedded: readonly Step[]): readonly string[] {
  const answers = new Map(embedded)
  return real.flatMap(([name, answer]) => {
    if (!answers.has(name)) return [`${name}: the embedded store was not asked`]
    return differences(answer, answers.get(name), name)
  })
}

/** The node that answers `GET /` has a name. */
const isOwn = (key: string, at: string): boolean => OWN.has(key) || (key === 'name' && at.startsWith('version'))

/** Under these, members are named by ids of the store's own. */
const NAMED_BY_IDS = new Set(['nodes'])

function differences(real: unknown, embedded: unknown, at: string): readonly string[] {
  if (isClusterHealth(real) && isClusterHealth(embedded)) return differences(Object.keys(real).sort(), Object.keys(embedded).sort(), at)
  if (isObject(real) && isObject(embedded) && Array.isArray(real) === Array.isArray(embedded)) {
    const keys = new Set([...Object.keys(real), ...Object.keys(embedded)])
    return [...keys].filter(key => !isOwn(key, at)).flatMap(key => differences(part(real, key), part(embedded, key), `${at} → ${key}`))
  }
  if (at.endsWith(' → _id') && isMadeUp(real) && isMadeUp(embedded)) return []
  return comparable(real) === comparable(embedded) ? [] : [`${at}: ${shown(real)} and ${shown(embedded)}`]
}

/** Its figures are of the whole cluster, in which other suites have indices: its members alone are compared. */
const isClusterHealth = (value: unknown): value is object => isObject(value) && 'active_shards_percent_as_number' in value

/** The second value of a sort, `_doc`, is a place in a segment. */
function part(value: Readonly<Record<string, unknown>>, key: string): unknown {
  const member = value[key]
  if (key === 'sort' && Array.isArray(member)) return member.slice(0, 1)
  return NAMED_BY_IDS.has(key) && isObject(member) ? Object.values(member) : member
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** An id of a document that came without one. */
const isMadeUp = (id: unknown): boolean => typeof id === 'string' && /^[\w-]{20}$/.test(id)

const comparable = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : JSON.stringify(value))
const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200))
