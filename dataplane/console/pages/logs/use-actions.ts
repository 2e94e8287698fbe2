import { useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import { atMost } from '../../components/layout/text-size.ts'
import type { UrlValues } from '../../url-state/fields.ts'
import type { SetUrlState } from '../../url-state/use-url-state.ts'
import type { LogsActions } from './filters.ts'
import { type LOGS_STATE, toggleColumn } from './logs-state.ts'
import type { OpenRecord } from './records/use-open-record.ts'
import { filterOf, setFilter } from './search/edit-search.ts'

interface ActionsDeps {
  readonly q: string
  readonly columns: readonly string[]
  readonly setState: SetUrlState<typeof LOGS_STATE>
  readonly open: OpenRecord
}

/** The ways out of a value or a record, for all parts of the page. */
export function useActions({ q, columns, setState, open: { open, close } }: ActionsDeps): LogsActions {
  const isPhone = useMediaQuery(atMost(700), undefined, { getInitialValueInEffect: false }) ?? false
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
