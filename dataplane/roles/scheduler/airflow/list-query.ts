/** Query parameters of Airflow's lists. */
import { z } from 'zod'
import { RUN_STATES, RUN_TYPES } from '../../../domain/features/feature-run.ts'
import type { RunQuery } from '../run-store.ts'
import type { ApiVersion } from './api-version.ts'
import { TimeField } from './time-field.ts'

/** Airflow's own bound of a page. */
const MAX_PAGE = 100
/** Furthest run that a list reaches: the search store's result window. */
const MAX_OFFSET = 9_900

const number = (name: string, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number`)
    .transform(Number)
    .optional()
    .transform(value => (value === undefined ? undefined : Math.min(value, max)))

export const PAGE = { limit: number('limit', MAX_PAGE), offset: number('offset', MAX_OFFSET) }

const SORT_FIELDS = [
  'dag_run_id',
  'state',
  'run_type',
  'logical_date',
  'data_interval_start',
  'data_interval_end',
  'run_after',
  'queued_at',
  'start_date',
  'end_date',
] as const
/** Fields of runs that have a second name. */
const SORT_ALIASES: Readonly<Record<string, string>> = { id: 'queued_at', execution_date: 'logical_date' }
const SORTABLE = new Set<string>([...SORT_FIELDS, ...Object.keys(SORT_ALIASES)])

const RANGE_FIELDS = ['logical_date', 'execution_date', 'start_date', 'end_date', 'run_after'] as const
const BOUNDS = ['gte', 'gt', 'lte', 'lt'] as const
const TIME = TimeField.optional()
const RANGES = Object.fromEntries(RANGE_FIELDS.flatMap(field => BOUNDS.map(bound => [`${field}_${bound}`, TIME])))

const commaList = <const T extends readonly string[]>(values: T) =>
  z
    .string()
    .transform(text => text.split(','))
    .pipe(z.array(z.enum(values)))
    .optional()

function isSortable(text: string): boolean {
  return SORTABLE.has(text.replace(/^-/, ''))
}

/** Parameters that may be given more than once. */
export const RUN_LISTS = ['order_by', 'state', 'run_type'] as const

export const RunListParameters = z.strictObject({
  ...PAGE,
  order_by: z
    .string()
    .transform(text => text.split(','))
    .pipe(z.array(z.string().refine(isSortable, `expected one of ${[...SORTABLE].join(', ')}, with - before it for descending`)))
    .optional(),
  state: commaList(RUN_STATES),
  run_type: commaList(RUN_TYPES),
  ...RANGES,
})
export type RunListParameters = z.output<typeof RunListParameters>

const DEFAULT_LIMIT: Readonly<Record<ApiVersion, number>> = { v1: 100, v2: 50 }

/** Oldest first unless `order_by` says otherwise. */
export function runQuery(version: ApiVersion, parameters: RunListParameters): RunQuery {
  const { limit = DEFAULT_LIMIT[version], offset = 0, order_by: orders = ['id'], state, run_type, ...ranges } = parameters
  return {
    limit,
    offset,
    sort: orders.map(sortBy),
    filters: [
      ...(state === undefined ? [] : [{ terms: { state } }]),
      ...(run_type === undefined ? [] : [{ terms: { run_type } }]),
      ...Object.entries(ranges).flatMap(([key, value]) => (value === undefined ? [] : [rangeFilter(key, value as number)])),
    ],
  }
}

function sortBy(order: string): object {
  const name = order.replace(/^-/, '')
  return { [SORT_ALIASES[name] ?? name]: { order: order.startsWith('-') ? 'desc' : 'asc', missing: '_last' } }
}

function rangeFilter(key: string, ms: number): object {
  const at = key.lastIndexOf('_')
  const name = key.slice(0, at)
  return { range: { [SORT_ALIASES[name] ?? name]: { [key.slice(at + 1)]: new Date(ms).toISOString() } } }
}
