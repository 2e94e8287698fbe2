/** The logs page: one search and one time range over five ways to look at what they find. */
import { Drawer } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { useShortcut } from '../../components/keyboard/use-shortcut.ts'
import { Page } from '../../components/layout/panel.tsx'
import { atMost } from '../../components/layout/text-size.ts'
import { useTabTitle } from '../../components/layout/use-tab-title.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { type SetUrlState, useUrlState } from '../../url-state/use-url-state.ts'
import { FacetColumn } from './facets/facet-column.tsx'
import { LogsActionsContext } from './filters.ts'
import { LogsBar, MODE_TITLES } from './logs-bar.tsx'
import { LOGS_STATE, MODES, type RecordTab, shownColumns, shownFacets } from './logs-state.ts'
import styles from './page.module.css'
import { RecordPanel } from './records/record-panel.tsx'
import { useOpenRecord } from './records/use-open-record.ts'
import { recordsBody } from './requests/records.ts'
import { Result } from './result.tsx'
import { SearchBox } from './search/search-box.tsx'
import { SearchHelp } from './search/search-help.tsx'
import { useLogSearch } from './search/use-log-search.ts'
import { Tools } from './tools.tsx'
import { TraceMode } from './trace/trace-mode.tsx'
import { useActions } from './use-actions.ts'
import { useCatalog } from './use-logs.ts'
import { useShownRecords } from './use-shown-records.ts'
import { useLinkToThis } from './views/use-link-to-this.ts'
import { ViewChips } from './views/views-menu.tsx'

export default function LogsPage() {
  const [state, setState] = useUrlState(LOGS_STATE)
  const { q, mode } = state
  useTabTitle(q === '' ? undefined : q)
  const [range] = useTimeRange()
  const [helps, setHelps] = useState(false)
  const [filters, setFilters] = useState(false)
  const isNarrow = useMediaQuery(atMost(1_100), undefined, { getInitialValueInEffect: false }) ?? false

  const search = useLogSearch(q, range)
  const { scope, fields, marks } = search
  const shown = useShownRecords(state, scope)
  const catalog = useCatalog(fields, shown.records)
  const chosenFacets = useMemo(() => shownFacets(state.facets), [state.facets])
  const columns = useColumns(state.columns)
  const open = useOpenRecord(state.record, record => setState({ record }, { replace: true }), shown.records)
  const linkToThis = useLinkToThis(shown.scope?.window ?? search.window, open.id)
  const actions = useActions({ q, columns, setState, open })
  usePageShortcuts(search.refresh, setState)

  const onSearch = useCallback((next: string, options?: { readonly replace: boolean }) => setState({ q: next }, options), [setState])
  const setFacets = useCallback((facets: readonly string[]) => setState({ facets }, { replace: true }), [setState])
  const setTab = useCallback((tab: RecordTab) => setState({ tab }, { replace: true }), [setState])
  const shownRecord = useDeferredValue(open.record)
  const movesOn = mode === 'live' && shown.live.isRunning && range.kind === 'relative'
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
            <Tools
              {...{ columns, order: state.order, scope: shown.scope, total: shown.total }}
              link={linkToThis}
              onRefresh={search.refresh}
            />
          }
        >
          <ViewChips />
          <SearchBox search={q} onSearch={onSearch} catalog={catalog} window={search.window} onHelp={() => setHelps(true)} />
          <LogsBar
            state={state}
            setState={setState}
            columns={columns}
            catalog={catalog}
            total={shown.total}
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
                <Result {...{ state, setState, search, shown, columns, open }} />
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
