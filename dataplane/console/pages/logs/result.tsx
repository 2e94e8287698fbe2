import { EmptyState } from '../../components/states/states.tsx'
import type { UrlValues } from '../../url-state/fields.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import type { SetUrlState } from '../../url-state/use-url-state.ts'
import { CompareMode } from './compare/compare-mode.tsx'
import { LiveMode } from './live/live-mode.tsx'
import type { LOGS_STATE } from './logs-state.ts'
import { PatternsMode } from './patterns/patterns-mode.tsx'
import { RecordsMode } from './records/records-mode.tsx'
import type { OpenRecord } from './records/use-open-record.ts'
import type { LogSearch } from './search/use-log-search.ts'
import type { ShownRecords } from './use-shown-records.ts'

const DAY_MS = 86_400_000

interface ResultProps {
  readonly state: UrlValues<typeof LOGS_STATE>
  readonly setState: SetUrlState<typeof LOGS_STATE>
  readonly search: LogSearch
  readonly shown: ShownRecords
  readonly columns: readonly string[]
  readonly open: OpenRecord
}

/** The records that the search finds, in the way that the page looks at them. */
export function Result({ state, setState, search, shown: { found, histogram, live }, columns, open }: ResultProps) {
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
