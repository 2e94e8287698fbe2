/** The logs page: one search and one time over five ways to look at what they find. */
import { ActionIcon, Drawer, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconRefresh } from '@tabler/icons-react'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { Page } from '../../components/panel.tsx'
import { EmptyState } from '../../components/states.tsx'
import { TimeRangePicker } from '../../components/time-range-picker.tsx'
import { useShortcut } from '../../components/use-shortcut.ts'
import { useTabTitle } from '../../components/use-tab-title.ts'
import type { UrlValues } from '../../url-state/fields.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { type SetUrlState, useUrlState } from '../../url-state/use-url-state.ts'
import { CompareMode } from './compare/compare-mode.tsx'
import { ExportMenu } from './export/export-menu.tsx'
import { FacetColumn } from './facets/facet-column.tsx'
import { type LogsActions, LogsActionsContext } from './filters.ts'
import { windowOfTail } from './live/live-buffer.ts'
import { LiveMode } from './live/live-mode.tsx'
import { type Live, useLive } from './live/use-live.ts'
import { LogsBar, MODE_TITLES } from './logs-bar.tsx'
import { LOGS_STATE, MODES, type RecordTab, shownColumns, shownFacets, toggleColumn } from './logs-state.ts'
import styles from './page.module.css'
import { PatternsMode } from './patterns/patterns-mode.tsx'
import { RecordPanel } from './records/record-panel.tsx'
import { RecordsMode } from './records/records-mode.tsx'
import { type OpenRecord, useOpenRecord } from './records/use-open-record.ts'
import { recordsBody } from './requests/records.ts'
import { filterOf, setFilter } from './search/edit-search.ts'
import { SearchBox } from './search/search-box.tsx'
import { SearchHelp } from './search/search-help.tsx'
import { type LogSearch, useLogSearch } from './search/use-log-search.ts'
import { TraceMode } from './trace/trace-mode.tsx'
import { useCatalog, useHistogram, useRecords } from './use-logs.ts'
import { useLinkToThis } from './views/use-link-to-this.ts'
import { ShareButton, ViewChips, ViewsMenu } from './views/views-menu.tsx'

const DAY_MS = 86_400_000

export default function LogsPage() {
  const [state, setState] = useUrlState(LOGS_STATE)
  const { q, mode } = state
  useTabTitle(q === '' ? undefined : q)
  const [range] = useTimeRange()
  const [helps, setHelps] = useState(false)
  const [filters, setFilters] = useState(false)
  const isNarrow = useMediaQuery('(max-width: 1100px)', undefined, { getInitialValueInEffect: false }) ?? false

  const search = useLogSearch(q, range)
  const { scope, fields, marks } = search
  const found = useRecords(mode === 'records' ? scope : undefined, state.order)
  const histogram = useHistogram(mode === 'records' ? scope : undefined)
  const live = useLive(mode === 'live' ? scope?.query : undefined)
  const records = mode === 'live' ? live.buffer.records : found.records
  // A live tail is at a time of its own: that of its records.
  const shownScope = useMemo(
    () => (scope === undefined || mode !== 'live' ? scope : { ...scope, window: windowOfTail(live.buffer.records, serverNow()) }),
    [scope, mode, live.buffer.records],
  )
  const catalog = useCatalog(fields, records)
  const chosenFacets = useMemo(() => shownFacets(state.facets), [state.facets])
  const columns = useColumns(state.columns)
  const open = useOpenRecord(state.record, record => setState({ record }, { replace: true }), records)
  const linkToThis = useLinkToThis(shownScope?.window ?? search.window, open.id)
  const actions = useActions({ q, columns, setState, open })
  usePageShortcuts(search.refresh, setState)

  const onSearch = useCallback((next: string, options?: { readonly replace: boolean }) => setState({ q: next }, options), [setState])
  const setFacets = useCallback((facets: readonly string[]) => setState({ facets }, { replace: true }), [setState])
  const setTab = useCallback((tab: RecordTab) => setState({ tab }, { replace: true }), [setState])
  const shownRecord = useDeferredValue(open.record)
  const total = histogram.data?.total
  const movesOn = mode === 'live' && live.isRunning && range.kind === 'relative'
  const facets = (
    <FacetColumn
      search={q}
      window={search.window}
      fields={fields}
      catalog={catalog}
      chosen={chosenFacets}
      movesOn={movesOn}
      onChoose={setFacets}
    />
  )

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
                <ExportMenu scope={shownScope} order={state.order} columns={columns} total={total} />
              </div>
              <TimeRangePicker />
              <Tooltip label="Read again, up to now (r)">
                <ActionIcon variant="default" size={30} aria-label="Read again" onClick={search.refresh}>
                  <IconRefresh size={15} />
                </ActionIcon>
              </Tooltip>
            </>
          }
        >
          <ViewChips />
          <SearchBox search={q} onSearch={onSearch} catalog={catalog} window={search.window} onHelp={() => setHelps(true)} />
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
              <div className={styles.side} data-gives-way={open.id !== undefined}>
                {facets}
              </div>
            )}
            <div className={styles.content} data-mode={mode}>
              {mode === 'trace' ? (
                <TraceMode traceId={state.trace} onTrace={trace => setState({ trace })} openId={open.id} />
              ) : (
                <Result {...{ state, setState, search, found, histogram, live, columns, open }} />
              )}
            </div>
            {open.id !== undefined && (
              <RecordPanel
                record={shownRecord}
                isGone={open.isGone}
                error={open.error}
                marks={marks}
                tab={state.tab}
                onTab={setTab}
                link={linkToThis}
                onClose={open.close}
              />
            )}
          </div>
        </Page>
      </div>
      <Drawer opened={isNarrow && filters} onClose={() => setFilters(false)} title="Filters" position="left" size="min(340px, 90vw)">
        {isNarrow && filters && facets}
      </Drawer>
      <SearchHelp
        opened={helps}
        onClose={() => setHelps(false)}
        query={scope === undefined ? undefined : recordsBody(scope, { order: state.order })}
      />
    </LogsActionsContext>
  )
}

interface ResultProps {
  readonly state: UrlValues<typeof LOGS_STATE>
  readonly setState: SetUrlState<typeof LOGS_STATE>
  readonly search: LogSearch
  readonly found: ReturnType<typeof useRecords>
  readonly histogram: ReturnType<typeof useHistogram>
  readonly live: Live
  readonly columns: readonly string[]
  readonly open: OpenRecord
}

/** The records that the search finds, in the way that the page looks at them. */
function Result({ state, setState, search, found, histogram, live, columns, open }: ResultProps) {
  const [, setRange] = useTimeRange()
  const { scope, window: window_, marks, hints } = search
  if (scope === undefined)
    return (
      <EmptyState title="The search of this link cannot be read">
        <p>Correct it above: it says where, and what to write instead.</p>
      </EmptyState>
    )
  const table = { columns, marks, wrap: state.wrap, openId: open.id, onOpen: open.open }
  switch (state.mode) {
    case 'patterns':
      return <PatternsMode scope={scope} order={state.patterns} onOrder={patterns => setState({ patterns })} />
    case 'compare':
      return <CompareMode scope={scope} compareWith={state.with} onCompareWith={compareWith => setState({ with: compareWith })} />
    case 'live':
      return <LiveMode live={live} {...table} />
    default:
      return (
        <RecordsMode
          {...{ found, histogram, hints, ...table }}
          search={state.q}
          withDay={window_.toMs - window_.fromMs > DAY_MS}
          onRange={setRange}
        />
      )
  }
}

interface ActionsDeps {
  readonly q: string
  readonly columns: readonly string[]
  readonly setState: SetUrlState<typeof LOGS_STATE>
  readonly open: OpenRecord
}

function useActions({ q, columns, setState, open: { open, close } }: ActionsDeps): LogsActions {
  const isPhone = useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false }) ?? false
  return useMemo(() => {
    // A way out of the record leads to its result, also where the record covers the page.
    const leadTo = (next: Partial<UrlValues<typeof LOGS_STATE>>) => {
      if (isPhone) close()
      setState(isPhone ? { ...next, record: undefined } : next)
    }
    return {
      filterOf: (field, value) => filterOf(q, field, value),
      setFilter: (field, value, kind) => leadTo({ q: setFilter(q, field, value, kind) }),
      showOnly: (field, value) => leadTo({ q: setFilter(q, field, value, 'in'), mode: 'records' }),
      openRecord: open,
      showTrace: trace => leadTo({ mode: 'trace', trace }),
      toggleColumn: field => setState({ columns: toggleColumn(columns, field) }, { replace: true }),
      hasColumn: field => columns.includes(field),
      columns,
    }
  }, [q, columns, setState, open, close, isPhone])
}

function usePageShortcuts(refresh: () => void, setState: SetUrlState<typeof LOGS_STATE>): void {
  useShortcut('r', 'Read again, up to now', refresh, { group: 'Logs' })
  MODES.forEach((name, at) => {
    // biome-ignore lint/correctness/useHookAtTopLevel: always as many, in the same order
    useShortcut(String(at + 1), MODE_TITLES[name], () => setState({ mode: name }), { group: 'Logs' })
  })
}

/** Columns keep their identity while they are the same: rows are drawn anew only when they change. */
function useColumns(chosen: readonly string[]): readonly string[] {
  const key = chosen.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list of the same names is the same list
  return useMemo(() => shownColumns(chosen), [key])
}
