/** The page's reads from the store. Answers stay on the page until newer ones are there; outdated requests are given up. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { request } from '../../api/request.ts'
import { type SearchBody, searchLogs, searchLogsEach } from '../../api/search.ts'
import { serverNow } from '../../api/server-clock.ts'
import { keepUnless } from '../../components/states/keep-shown.ts'
import type { TimeWindow } from '../../url-state/time-range.ts'
import { type LogRecord, readRecords } from './records/log-record.ts'
import { facetRequests, readFacets, readValues, valuesBody } from './requests/facets.ts'
import { FIELD_CAPS_PATH, withFieldsOf } from './requests/fields.ts'
import { barMsFor, histogramBody, readHistogram } from './requests/histogram.ts'
import { PAGE_SIZE, recordBody, recordsBody } from './requests/records.ts'
import type { Order, Scope, SortValues } from './requests/scope.ts'
import { type FieldCatalog, KNOWN_FIELDS, readFieldCaps } from './search/field-catalog.ts'

/** Records that the table loads; beyond, the search is to be narrowed, or its records exported. */
export const MAX_LOADED_RECORDS = 50_000
const HISTOGRAM_BARS = 90
const FIELDS_STALE_MS = 60_000
/** How often values are counted anew beside a live tail. */
const LIVE_FACETS_MS = 10_000

/** Keys hold the whole body of the request: what asks the same is the same. */
export const logsKey = (name: string, ...parts: readonly unknown[]) => ['logs', name, ...parts] as const

export function useFields(): FieldCatalog {
  const { data } = useQuery({
    queryKey: logsKey('fields'),
    queryFn: async ({ signal }) => readFieldCaps(await request(`/api/search${FIELD_CAPS_PATH}`, { signal })),
    staleTime: FIELDS_STALE_MS,
    // The store does not tell the fields of one tenant alone; they are known from the records on the page.
    retry: false,
    meta: { quiet: true },
  })
  return data ?? KNOWN_FIELDS
}

export function useCatalog(fields: FieldCatalog, records: readonly LogRecord[]): FieldCatalog {
  return useMemo(() => withFieldsOf(fields, records.slice(0, PAGE_SIZE)), [fields, records])
}

export function useRecords(scope: Scope | undefined, order: Order) {
  const query = useInfiniteQuery({
    queryKey: logsKey('records', scope, order),
    enabled: scope !== undefined,
    initialPageParam: undefined as SortValues | undefined,
    queryFn: async ({ pageParam, signal }) => readRecords(await searchLogs(recordsBody(scope!, { order, after: pageParam }), signal)),
    getNextPageParam: (last, pages) =>
      last.length < PAGE_SIZE || pages.length * PAGE_SIZE >= MAX_LOADED_RECORDS ? undefined : last.at(-1)?.sort,
    placeholderData: before => keepUnless(before, ({ pages }) => pages.every(page => page.length === 0)),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const pages = query.data?.pages
  const records = useMemo(() => pages?.flat() ?? [], [pages])
  return { ...query, records }
}

/** The open record: one of the page, or read by its id. */
export function useRecord(id: string | undefined, records: readonly LogRecord[]) {
  const known = useMemo(() => records.find(record => record.id === id), [id, records])
  const query = useQuery({
    queryKey: logsKey('record', id),
    enabled: id !== undefined && known === undefined,
    queryFn: async ({ signal }) => readRecords(await searchLogs(recordBody(id!), signal))[0] ?? null,
  })
  return { record: known ?? query.data ?? undefined, isGone: known === undefined && query.data === null, error: query.error }
}

export function useHistogram(scope: Scope | undefined) {
  const barMs = scope === undefined ? 1 : barMsFor(scope.window, HISTOGRAM_BARS)
  return useQuery({
    queryKey: logsKey('histogram', scope),
    enabled: scope !== undefined,
    queryFn: async ({ signal }) => ({
      ...readHistogram(await searchLogs(histogramBody(scope!, barMs), signal), scope!.window, barMs),
      window: scope!.window,
    }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** `movesOn`: the window ends now, and is counted again and again. */
export function useFacets(search: string, window: TimeWindow, fields: readonly string[], catalog: FieldCatalog, movesOn: boolean) {
  const requests = useMemo(() => facetRequests(search, window, fields, catalog), [search, window, fields, catalog])
  return useQuery({
    queryKey: logsKey('facets', requests, movesOn),
    enabled: requests.length > 0,
    refetchInterval: movesOn && LIVE_FACETS_MS,
    queryFn: async ({ signal }) => {
      const asked = movesOn ? facetRequests(search, upToNow(window), fields, catalog) : requests
      const bodies: readonly SearchBody[] = asked.map(({ body }) => body)
      const answers = await searchLogsEach(bodies, signal)
      const facets = asked.flatMap((one, at) => readFacets(one.fields, answers[at]))
      return fields.flatMap(field => facets.find(facet => facet.field === field) ?? [])
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function upToNow({ fromMs, toMs }: TimeWindow): TimeWindow {
  const nowMs = serverNow()
  return { fromMs: nowMs - (toMs - fromMs), toMs: nowMs }
}

/** Values for the search box; undefined field: none are wanted. */
export function useFieldValues(field: string | undefined, prefix: string, window: TimeWindow, catalog: FieldCatalog) {
  return useQuery({
    queryKey: logsKey('values', field, prefix, window),
    enabled: field !== undefined,
    queryFn: async ({ signal }) => readValues(field!, prefix, await searchLogs(valuesBody(field!, prefix, window, catalog), signal)),
    placeholderData: keepPreviousData,
    staleTime: FIELDS_STALE_MS,
    meta: { quiet: true },
  })
}
