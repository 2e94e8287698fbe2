/** The bar between the search and what it finds: how to look at the records, and the options of that way. */
import { Button, Tabs } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconArrowsSort } from '@tabler/icons-react'
import { formatCount } from '../../components/format.ts'
import type { UrlValues } from '../../url-state/fields.ts'
import type { SetUrlState } from '../../url-state/use-url-state.ts'
import { type LOGS_STATE, MODES, type Mode } from './logs-state.ts'
import styles from './page.module.css'
import { ColumnsMenu } from './records/columns-menu.tsx'
import type { FieldCatalog } from './search/field-catalog.ts'

export const MODE_TITLES: Readonly<Record<Mode, string>> = {
  records: 'Records',
  patterns: 'Patterns',
  trace: 'Trace',
  compare: 'Compare',
  live: 'Live',
}

interface LogsBarProps {
  readonly state: UrlValues<typeof LOGS_STATE>
  readonly setState: SetUrlState<typeof LOGS_STATE>
  readonly columns: readonly string[]
  readonly catalog: FieldCatalog
  /** Records that were found; undefined while they are counted. */
  readonly total: number | undefined
  readonly onToggleColumn: (field: string) => void
  /** Opens the facets. Undefined: they stand beside the records. */
  readonly onFilters: (() => void) | undefined
}

export function LogsBar({ state, setState, columns, catalog, total, onToggleColumn, onFilters }: LogsBarProps) {
  const { mode, order, wrap } = state
  const isRecords = mode === 'records'
  return (
    <div className={styles.bar}>
      <Tabs value={mode} onChange={value => setState({ mode: value as Mode })} className={styles.modes}>
        <Tabs.List aria-label="How to look at the records">
          {MODES.map(name => (
            <Tabs.Tab key={name} value={name}>
              {MODE_TITLES[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <div className={styles.options}>
        {isRecords && total !== undefined && (
          <span className={styles.total} role="status">
            <b>{formatCount(total)}</b> {total === 1 ? 'record' : 'records'}
          </span>
        )}
        {onFilters !== undefined && mode !== 'trace' && (
          <Button
            variant="default"
            className={styles.words}
            leftSection={<IconAdjustmentsHorizontal size={15} aria-hidden />}
            onClick={onFilters}
          >
            Filters
          </Button>
        )}
        {isRecords && (
          <Button
            variant="default"
            leftSection={<IconArrowsSort size={15} aria-hidden />}
            onClick={() => setState({ order: order === 'newest' ? 'oldest' : 'newest' })}
          >
            {order === 'newest' ? 'Newest first' : 'Oldest first'}
          </Button>
        )}
        {(isRecords || mode === 'live') && (
          <ColumnsMenu
            columns={columns}
            catalog={catalog}
            wrap={wrap}
            onToggle={onToggleColumn}
            onWrap={next => setState({ wrap: next }, { replace: true })}
          />
        )}
      </div>
    </div>
  )
}
