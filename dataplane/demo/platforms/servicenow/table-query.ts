/** Rows and fields of the Table API, as the query of a request selects them. */
import type { Fields, ServiceNowIncident } from './servicenow-incidents.ts'

const OPERATORS: readonly (readonly [string, (have: string, wanted: string) => boolean])[] = [
  ['STARTSWITH', (have, wanted) => have.startsWith(wanted)],
  ['LIKE', (have, wanted) => have.includes(wanted)],
  ['NOT IN', (have, wanted) => !wanted.split(',').includes(have)],
  ['IN', (have, wanted) => wanted.split(',').includes(have)],
  ['!=', (have, wanted) => have !== wanted],
  ['=', (have, wanted) => have === wanted],
]

/** `a=b^c!=d^ORDERBY…`; a condition that is not understood is ignored, as there. */
function fitsQuery(fields: Fields, query: string): boolean {
  return query.split('^').every(condition => {
    const found = OPERATORS.map(([name, fits]) => ({ at: condition.indexOf(name), name, fits })).find(({ at }) => at > 0)
    if (condition.startsWith('ORDERBY') || found === undefined) return true
    return found.fits(fields[condition.slice(0, found.at)] ?? '', condition.slice(found.at + found.name.length))
  })
}

export function select(rows: readonly Fields[], query: URLSearchParams): readonly Fields[] {
  return selectFrom(
    rows.map(fields => ({ fields })),
    query,
  ).map(({ fields }) => pick(fields, query))
}

export function selectFrom<T extends { readonly fields: Fields }>(rows: readonly T[], query: URLSearchParams): readonly T[] {
  return rows
    .filter(({ fields }) => fitsQuery(fields, query.get('sysparm_query') ?? ''))
    .slice(0, Number(query.get('sysparm_limit') ?? 10_000))
}

function pick(fields: Fields, query: URLSearchParams): Fields {
  const names = query.get('sysparm_fields')?.split(',')
  return names === undefined ? fields : Object.fromEntries(names.map(name => [name, fields[name] ?? '']))
}

/** A journal field such as `work_notes` has no value; what was written into it is its display value. */
export function showIncidentFields({ fields, workNotes }: ServiceNowIncident, query: URLSearchParams) {
  const selected = pick(fields, query)
  if (query.get('sysparm_display_value') !== 'all') return selected
  const journal = workNotes.map(({ at, text }) => `${at} - Demo (Work notes)\n${text}\n`).join('\n')
  const display = (name: string, value: string) => (name === 'work_notes' ? journal : value)
  return Object.fromEntries(Object.entries(selected).map(([name, value]) => [name, { display_value: display(name, value), value }]))
}
