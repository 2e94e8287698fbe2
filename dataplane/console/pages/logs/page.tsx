/** The logs page: one search and one time over five ways to look at what they find. */
import { ActionIcon, Button, Drawer, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconRefresh } from '@tabler/icons-react'
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { Page } from '../../components/panel.tsx'
import { EmptyState } from '../../components/states.tsx'
import { TimeRangePicker } from '../../components/time-range-picker.tsx'
import { useClockOffset } from '../../components/use-clock-offset.ts'
import { useShortcut } from '../../components/use-shortcut.ts'
import { windowOf } from '../../url-state/time-range.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { useUrlState } from '../../url-state/use-url-state.ts'
import { CompareMode } from './compare/compare-mode.tsx'
import { ExportMenu } from './export/export-menu.tsx'
import { FacetList } from './facets/facet-list.tsx'
import { type LogsActions, LogsActionsContext } from './filters.ts'
import { windowOfTail } from './live/live-buffer.ts'
import { LiveMode } from './live/live-mode.tsx'
import { useLive } from './live/use-live.ts'
import { LogsBar, MODE_TITLES } from './logs-bar.tsx'
import { LOGS_STATE, MODES, type RecordTab, shownColumns, shownFacets, toggleColumn } from './logs-state.ts'
import styles from './page.module.css'
import { PatternsMode } from './patterns/patterns-mode.tsx'
import type { LogRecord } from './records/log-record.ts'
import { markExpression } from './records/mark-words.ts'
import { RecordPanel } from './records/record-panel.tsx'
import { RecordsMode } from './records/records-mode.tsx'
import { recordsBody } from './requests/records.ts'
import type { Scope } from './requests/scope.ts'
import { filterOf, setFilter } from './search/edit-search.ts'
import { KNOWN_FIELDS } from './search/field-catalog.ts'
import { hintsFor } from './search/hints.ts'
import { SearchBox } from './search/search-box.tsx'
import { SearchHelp } from './search/search-help.tsx'
import { translateSearch, wordsToMark } from './search/to-query.ts'
import { TraceMode } from './trace/trace-mode.tsx'
import { useCatalog, useFacets, useFields, useHistogram, useRecord, useRecords } from './use-logs.ts'
import { shareLink } from './views/share-link.ts'
import { ShareButton, ViewChips, ViewsMenu } from './views/views-menu.tsx'

const DAY_MS = 86_400_000

export default function LogsPage() {
  const [state, setState] = useUrlState(LOGS_STATE)
  const { q, mode } = state
  const [range, setRange] = useTimeRange()
  const [refreshes, setRefreshes] = useState(0)
  const [helps, setHelps] = useState(false)
  const [filters, setFilters] = useState(false)
  const isPhone = useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false }) ?? false
  const isNarrow = useMediaQuery('(max-width: 1100px)', undefined, { getInitialValueInEffect: false }) ?? false

  // Up to now: the now of the last search, of the last change of the range, or of the last press on Refresh.
  const offsetMs = useClockOffset()
  const rangeText = JSON.stringify(range)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new object of the same range is the same range
  const window_ = useMemo(() => windowOf(range, serverNow()), [rangeText, q, refreshes, offsetMs])

  const fields = useFields()
  const translated = useMemo(() => translateSearch(q, fields), [q, fields])
  const query = translated.ok ? translated.query : undefined
  const queryText = JSON.stringify(query)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal queries are one
  const scope = useMemo((): Scope | undefined => (query === undefined ? undefined : { query, window: window_ }), [queryText, window_])
  const marks = useMemo(() => (translated.ok ? markExpression(wordsToMark(translated.expression)) : undefined), [translated])

  // Until the store has told its fields, none is said to be missing.
  const hints = useMemo(
    () => (translated.ok && fields !== KNOWN_FIELDS ? hintsFor(translated.expression, fields) : NONE),
    [translated, fields],
  )

  const isRecords = mode === 'records'
  const found = useRecords(isRecords ? scope : undefined, state.order)
  const histogram = useHistogram(isRecords ? scope : undefined)
  const live = useLive(mode === 'live' ? query : undefined)
  const records = mode === 'live' ? live.buffer.records : found.records
  // A live tail is at a time of its own: that of its records.
  const seen = useMemo(
    () => (scope === undefined || mode !== 'live' ? scope : { ...scope, window: windowOfTail(live.buffer.records, serverNow()) }),
    [scope, mode, live.buffer.records],
  )
  const catalog = useCatalog(fields, records)
  const facetFields = useMemo(() => shownFacets(state.facets), [state.facets])
  const hasFacets = mode !== 'trace' && (!isNarrow || filters)
  const movesOn = mode === 'live' && live.isRunning && range.kind === 'relative'
  const facets = useFacets(q, window_, hasFacets ? facetFields : NONE, fields, movesOn)
  const columns = useColumns(state.columns)

  const [openId, setOpenId] = useOpenRecord(state.record, record => setState({ record }, { replace: true }))
  const [opened, setOpened] = useState<LogRecord>()
  const { record, isGone, error } = useRecord(openId, opened?.id === openId && opened !== undefined ? [opened] : records)
  const openRecord = useCallback(
    (next: LogRecord) => {
      setOpened(next)
      setOpenId(next.id)
    },
    [setOpenId],
  )
  const close = useCallback(() => setOpenId(undefined), [setOpenId])
  const latestSeen = useRef(seen?.window ?? window_)
  latestSeen.current = seen?.window ?? window_
  const latestOpen = useRef(openId)
  latestOpen.current = openId
  // The address of the page follows the open record a moment later.
  const linkToThis = useCallback(() => {
    const isLive = new URLSearchParams(window.location.search).get('mode') === 'live'
    return shareLink(window.location.href, latestSeen.current, { record: latestOpen.current, ...(isLive && { mode: undefined }) })
  }, [])
  const refresh = () => setRefreshes(count => count + 1)
  useShortcut('r', 'Read again, up to now', refresh, { group: 'Logs' })
  MODES.forEach((name, at) => {
    // biome-ignore lint/correctness/useHookAtTopLevel: always as many, in the same order
    useShortcut(String(at + 1), MODE_TITLES[name], () => setState({ mode: name }), { group: 'Logs' })
  })

  // A way out of the record leads to its result, also where the record covers the page.
  const leadTo = useCallback(
    (next: Parameters<typeof setState>[0]) => {
      if (isPhone) setOpenId(undefined)
      setState(isPhone ? { ...next, record: undefined } : next)
    },
    [isPhone, setOpenId, setState],
  )
  const actions = useMemo(
    (): LogsActions => ({
      filterOf: (field, value) => filterOf(q, field, value),
      setFilter: (field, value, kind) => leadTo({ q: setFilter(q, field, value, kind) }),
      showOnly: (field, value) => leadTo({ q: setFilter(q, field, value, 'in'), mode: 'records' }),
      openRecord,
      showTrace: trace => leadTo({ mode: 'trace', trace }),
      toggleColumn: field => setState({ columns: toggleColumn(columns, field) }, { replace: true }),
      hasColumn: field => columns.includes(field),
      columns,
    }),
    [q, setState, leadTo, openRecord, columns],
  )
  const search = useCallback((next: string, options?: { readonly replace: boolean }) => setState({ q: next }, options), [setState])
  // Walking through records draws neither the facets nor, while one walks fast, the open record.
  const facetList = useMemo(
    () =>
      facets.error !== null && facets.data === undefined ? (
        <div className={styles.noFacets}>
          <p>Values of fields cannot be counted at present.</p>
          <Button size="compact-xs" variant="default" onClick={() => void facets.refetch()}>
            Count again
          </Button>
        </div>
      ) : (
        <FacetList
          facets={facets.data ?? []}
          fields={facetFields}
          catalog={catalog}
          onFields={next => setState({ facets: next }, { replace: true })}
        />
      ),
    [facets.data, facets.error, facets.refetch, facetFields, catalog, setState],
  )
  const shownRecord = useDeferredValue(record)
  const setTab = useCallback((tab: RecordTab) => setState({ tab }, { replace: true }), [setState])
  const total = histogram.data?.total

  return (
    <LogsActionsContext value={actions}>
      <div className={styles.logs} data-fills={mode === 'records' || mode === 'live'}>
        <Page
          title="Logs"
          wide
          actions={
            <>
              <div className={styles.tools}>
                <ViewsMenu />
                <ShareButton link={linkToThis} />
                <ExportMenu scope={seen} order={state.order} columns={columns} total={total} />
              </div>
              <TimeRangePicker />
              <Tooltip label="Read again, up to now (r)">
                <ActionIcon variant="default" size={30} aria-label="Read again" onClick={refresh}>
                  <IconRefresh size={15} />
                </ActionIcon>
              </Tooltip>
            </>
          }
        >
          <ViewChips />
          <SearchBox search={q} onSearch={search} catalog={catalog} window={window_} onHelp={() => setHelps(true)} />
          <LogsBar
            state={state}
            setState={setState}
            columns={columns}
            catalog={catalog}
            total={total}
            onToggleColumn={actions.toggleColumn}
            onFilters={isNarrow ? () => setFilters(true) : undefined}
          />
          <div className={styles.body}>
            {!isNarrow && mode !== 'trace' && (
              <div className={styles.side} data-gives-way={openId !== undefined}>
                {facetList}
              </div>
            )}
            <div className={styles.content} data-mode={mode}>
              {!translated.ok && mode !== 'trace' && (
                <EmptyState title="The search of this link cannot be read">
                  <p>Correct it above: it says where, and what to write instead.</p>
                </EmptyState>
              )}
              {isRecords && translated.ok && (
                <RecordsMode
                  found={found}
                  histogram={histogram}
                  search={q}
                  hints={hints}
                  columns={columns}
                  marks={marks}
                  wrap={state.wrap}
                  withDay={window_.toMs - window_.fromMs > DAY_MS}
                  openId={openId}
                  onOpen={openRecord}
                  onRange={setRange}
                />
              )}
              {mode === 'patterns' && translated.ok && (
                <PatternsMode scope={scope} order={state.patterns} onOrder={patterns => setState({ patterns })} />
              )}
              {mode === 'trace' && <TraceMode traceId={state.trace} onTrace={trace => setState({ trace })} openId={openId} />}
              {mode === 'compare' && translated.ok && (
                <CompareMode scope={scope} compareWith={state.with} onCompareWith={compareWith => setState({ with: compareWith })} />
              )}
              {mode === 'live' && translated.ok && (
                <LiveMode live={live} columns={columns} marks={marks} wrap={state.wrap} openId={openId} onOpen={openRecord} />
              )}
            </div>
            {openId !== undefined && (
              <RecordPanel
                record={shownRecord}
                isGone={isGone}
                error={error}
                marks={marks}
                tab={state.tab}
                onTab={setTab}
                link={linkToThis}
                onClose={close}
              />
            )}
          </div>
        </Page>
      </div>
      <Drawer opened={isNarrow && filters} onClose={() => setFilters(false)} title="Filters" position="left" size="min(340px, 90vw)">
        {isNarrow && filters && facetList}
      </Drawer>
      <SearchHelp
        opened={helps}
        onClose={() => setHelps(false)}
        query={scope === undefined ? undefined : recordsBody(scope, { order: state.order })}
      />
    </LogsActionsContext>
  )
}

const NONE: readonly string[] = []

/** Columns keep their identity while they are the same: rows are drawn anew only when they change. */
function useColumns(chosen: readonly string[]): readonly string[] {
  const key = chosen.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list of the same names is the same list
  return useMemo(() => shownColumns(chosen), [key])
}

/** One walks through records faster than a browser takes new URLs: the URL follows when one stays. */
const FOLLOW_MS = 250

function useOpenRecord(inUrl: string | undefined, write: (id: string | undefined) => void) {
  const [id, setId] = useState(inUrl)
  useEffect(() => setId(inUrl), [inUrl])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `write` differs at each render and does the same
  useEffect(() => {
    if (id === inUrl) return
    const timer = setTimeout(() => write(id), FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [id])
  return [id, setId] as const
}
