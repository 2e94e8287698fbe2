/** Messages grouped by what they say: how many, when, and how that stands to the time before. */
import { ActionIcon, Group, SegmentedControl, Tooltip } from '@mantine/core'
import { IconEyeOff, IconFilter } from '@tabler/icons-react'
import { useMemo } from 'react'
import { Pill, type Tone } from '../../../components/badges/badges.tsx'
import { formatCount, formatShare } from '../../../components/format.ts'
import { type Column, DataTable } from '../../../components/layout/data-table.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { useLogsActions } from '../filters.ts'
import { type Change, changeOf, type PatternOrder, sayChange } from '../requests/patterns.ts'
import type { Scope } from '../requests/scope.ts'
import { PatternCell } from './pattern-cell.tsx'
import styles from './patterns-mode.module.css'
import { Trend } from './trend.tsx'
import { type Pattern, type Patterns, usePatterns } from './use-patterns.ts'

export interface PatternsModeProps {
  readonly scope: Scope | undefined
  readonly order: PatternOrder
  readonly onOrder: (order: PatternOrder) => void
}

export function PatternsMode({ scope, order, onOrder }: PatternsModeProps) {
  const { data, error, refetch } = usePatterns(scope)
  if (error !== null) return <ErrorPanel error={error} onRetry={refetch} />
  if (data === undefined) return <Pending what="Counting patterns" />
  if (data.patterns.length === 0)
    return (
      <EmptyState title="No messages to group">
        <p>No record of this time matches. Choose a longer time, or fewer terms.</p>
      </EmptyState>
    )
  return (
    <Panel
      title="Patterns"
      flush
      note={`${data.patterns.length} in ${formatCount(data.total)} records; <*> stands for what differs`}
      actions={
        <SegmentedControl
          aria-label="Order"
          value={order}
          onChange={value => onOrder(value as PatternOrder)}
          data={[
            { value: 'count', label: 'Most frequent' },
            { value: 'change', label: 'Most changed' },
          ]}
        />
      }
    >
      <PatternTable data={data} order={order} />
    </Panel>
  )
}

function PatternTable({ data, order }: { readonly data: Patterns; readonly order: PatternOrder }) {
  const { showOnly, setFilter } = useLogsActions()
  const rows = useMemo(
    () => (order === 'count' ? data.patterns : data.patterns.toSorted((a, b) => surprise(b) - surprise(a))),
    [data, order],
  )
  const columns = useMemo((): readonly Column<Pattern>[] => {
    const most = Math.max(1, ...data.patterns.map(({ count }) => count))
    return [
      {
        key: 'pattern',
        title: 'Pattern',
        grow: true,
        render: ({ id, details }) => <PatternCell id={id} details={details} onOpen={() => showOnly('pattern_id', id)} />,
      },
      { key: 'trend', title: 'Trend', hideWhenNarrow: true, render: ({ details }) => <Trend values={details?.trend} /> },
      {
        key: 'count',
        title: 'Count',
        align: 'right',
        render: ({ count }) => (
          <span className={styles.count}>
            {formatCount(count)}
            <i style={{ width: `${(100 * count) / most}%` }} aria-hidden />
          </span>
        ),
      },
      {
        key: 'share',
        title: 'Share',
        align: 'right',
        hideWhenNarrow: true,
        render: ({ count }) => <span className={styles.change}>{formatShare(data.total === 0 ? 0 : count / data.total)}</span>,
      },
      {
        key: 'change',
        title: 'Change',
        align: 'right',
        render: ({ count, countBefore }) =>
          countBefore === undefined ? (
            '…'
          ) : data.hasBefore ? (
            <ChangePill change={changeOf(count, countBefore)} before={countBefore} />
          ) : (
            '–'
          ),
      },
      {
        key: 'actions',
        title: <span className="visually-hidden">What to do</span>,
        render: ({ id }) => (
          <Group gap={2} wrap="nowrap">
            <span className={styles.only}>
              <RowAction label="Show only this" onClick={() => showOnly('pattern_id', id)} icon={<IconFilter size={15} />} />
            </span>
            <RowAction label="Hide this" onClick={() => setFilter('pattern_id', id, 'out')} icon={<IconEyeOff size={15} />} />
          </Group>
        ),
      },
    ]
  }, [data, showOnly, setFilter])
  return (
    <DataTable label="Patterns" columns={columns} rows={rows} rowKey={({ id }) => id} onOpen={({ id }) => showOnly('pattern_id', id)} />
  )
}

function RowAction({ label, icon, onClick }: { readonly label: string; readonly icon: React.ReactNode; readonly onClick: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={label} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}

const TONES: Readonly<Record<Change['kind'], Tone>> = { new: 'medium', more: 'medium', gone: 'neutral', less: 'neutral', same: 'neutral' }
/** More than so many times as often stands out. */
const LOUD_FACTOR = 2

const toneOf = (change: Change): Tone => (change.kind === 'more' && change.factor < LOUD_FACTOR ? 'neutral' : TONES[change.kind])

export function ChangePill({ change, before }: { readonly change: Change; readonly before: number }) {
  const text = sayChange(change)
  return (
    <span title={`${formatCount(before)} in the time before`} className={styles.change}>
      {change.kind === 'same' ? <span className={styles.same}>{text}</span> : <Pill tone={toneOf(change)}>{text}</Pill>}
    </span>
  )
}

/** In standard deviations, about. */
function surprise({ count, countBefore = count }: Pattern): number {
  return count + countBefore === 0 ? 0 : Math.abs(count - countBefore) / Math.sqrt((count + countBefore) / 2)
}
