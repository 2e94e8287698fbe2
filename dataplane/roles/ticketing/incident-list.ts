/** Lists incidents, newest first (Spec: GET /api/incidents; Decisions 6). */
import { z } from 'zod'
import { ALL_INCIDENTS, incidentsIndex } from '../../contract/indices.ts'
import { SEVERITIES } from '../../contract/platforms.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { INCIDENT_STATUSES } from '../../domain/incidents/incident-status.ts'
import { toIncident } from '../../domain/incidents/stored-incident.ts'
import { incidentOf } from '../../pipeline/incident-of.ts'
import { readDispatches } from '../../pipeline/tickets/thread-store.ts'
import type { SearchResult, SearchStore } from '../../ports/search-store.ts'

const MAX_LIMIT = 1000
const RECURRING = { term: { recurring: true } }

/** Times outside these have a text in UTC that the search store does not read. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
const TIME_FORM = 'expected an ISO-8601 time such as 2026-01-31T12:00:00Z'

const FORM = { offset: true, local: true } as const
const NAMES_NO_ZONE = /T[^TZ+-]*$/

/** The `+` of a zone that stands in an address as it is comes as a space. */
const SPACE_BEFORE_ZONE = / (?=\d\d:\d\d$)/

const withPlus = (value: unknown): unknown => (typeof value === 'string' ? value.replace(SPACE_BEFORE_ZONE, '+') : value)

/** A moment as text in UTC with milliseconds. A day alone is its first moment; a time without a zone is in UTC, as every time that the API tells. */
export const TIME = z
  .preprocess(withPlus, z.union([z.iso.datetime(FORM), z.iso.datetime({ ...FORM, precision: -1 }), z.iso.date()], { error: TIME_FORM }))
  .transform(text => (NAMES_NO_ZONE.test(text) ? `${text}Z` : text))
  .refine(text => isWithin(Date.parse(text), FIRST_TIME, LAST_TIME), `${TIME_FORM}, from the years 0001 to 9999 in UTC`)
  .transform(text => new Date(text).toISOString())

const isWithin = (ms: number, first: number, last: number) => ms >= first && ms <= last

export const INCIDENT_FILTERS = z
  .strictObject({
    status: z.enum(INCIDENT_STATUSES).optional(),
    severity: z.enum(SEVERITIES).optional(),
    service: z.string().min(1).optional(),
    recurring: z
      .enum(['true', 'false'])
      .transform(text => text === 'true')
      .optional(),
    /** First and last creation time, both inclusive. */
    from: TIME.optional(),
    to: TIME.optional(),
    limit: z
      .string()
      .regex(/^\d{1,4}$/, `expected an integer from 1 to ${MAX_LIMIT}`)
      .transform(Number)
      .pipe(z.number().min(1).max(MAX_LIMIT))
      .prefault('100'),
    cursor: z
      .string()
      .transform((text, context) => parseCursor(text) ?? refuseCursor(context))
      .optional(),
  })
  .check(({ value: { from, to }, issues }) => {
    if (from !== undefined && to !== undefined && from > to)
      issues.push({ code: 'custom', path: ['from'], input: from, message: `expected a time that is not after to (${to})` })
  })
export type IncidentFilters = z.output<typeof INCIDENT_FILTERS>

export interface IncidentPage {
  readonly incidents: readonly Incident[]
  /** Absent on the last page. */
  readonly nextCursor?: string
  /** Where incidents may be missing. */
  readonly missing?: SearchResult<unknown>['missing']
}

/** Without a tenant: those of all tenants. */
export async function listIncidents(store: SearchStore, filters: IncidentFilters, tenant: string | undefined): Promise<IncidentPage> {
  const index = tenant === undefined ? ALL_INCIDENTS : incidentsIndex(tenant)
  const { hits, missing } = await store.search<unknown>({ index, body: buildListQuery(filters), takesPart: true })
  const shown = hits.slice(0, filters.limit)
  const next = hits.length > filters.limit ? cursorAfter(shown.at(-1)?.sort) : undefined
  const page = shown.map(incidentOf)
  const dispatchesOf = await readDispatches(store, page)
  return {
    incidents: page.map(incident => toIncident(incident, dispatchesOf(incident))),
    ...(next !== undefined && { nextCursor: formatCursor(next) }),
    ...(missing !== undefined && { missing }),
  }
}

/** Asks for one more than the limit, to know whether there is a next page. */
function buildListQuery({ status, severity, service, recurring, from, to, limit, cursor }: IncidentFilters): Record<string, unknown> {
  const terms = Object.entries({ status, severity, service }).filter(([, value]) => value !== undefined)
  const range = { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lte: to }) }
  return {
    size: limit + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          ...terms.map(([field, value]) => ({ term: { [field]: value } })),
          ...(Object.keys(range).length === 0 ? [] : [{ range: { createdAt: range } }]),
          ...(recurring === true ? [RECURRING] : []),
        ],
        // An incident without the field is not recurring.
        ...(recurring === false ? { must_not: [RECURRING] } : {}),
      },
    },
    sort: [{ createdAt: { order: 'desc', unmapped_type: 'date' } }, { id: { order: 'desc', unmapped_type: 'keyword' } }],
    ...(cursor === undefined ? {} : { search_after: cursor }),
  }
}

function refuseCursor(context: z.core.$RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'expected the x-next-cursor of an earlier answer', input: context.value })
  return z.NEVER
}

/** The place in a listing where the next page goes on: creation time in ms and id of the last incident seen. */
export type IncidentCursor = readonly [createdAtMs: number, id: string]

/**
 * The place after the last incident of a page, by what it is sorted by. Incidents that lack it come last: without a time nothing else follows, so
 * there is none; without an id those of an earlier time follow.
 */
export function cursorAfter([createdAtMs, id]: readonly unknown[] = []): IncidentCursor | undefined {
  if (!Number.isSafeInteger(createdAtMs)) return undefined
  return typeof id === 'string' ? [createdAtMs as number, id] : [(createdAtMs as number) - 1, LAST_ID]
}

/** No id is greater. */
const LAST_ID = '\uffff'

export function formatCursor(cursor: IncidentCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

/** Undefined for anything that `formatCursor` did not make. */
export function parseCursor(text: string): IncidentCursor | undefined {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
  const isCursor = Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string'
  if (!isCursor) return undefined
  const cursor = value as unknown as IncidentCursor
  // Decoding skips characters that are none of base64, and bits that make no byte.
  return formatCursor(cursor) === text ? cursor : undefined
}
