// biome-ignore-all lint/a11y/useSemanticElements: a table of which only the rows in sight are drawn is no <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
/** Records in a table of any length: only the rows in sight are drawn, on paper all that were read. `j` and `k` walk, Enter opens. */

import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import { formatCount } from '../../../components/format.ts'
import { leaveControl, useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { atMost, rem, scaled } from '../../../components/layout/text-size.ts'
import { usePrinting } from '../../../components/layout/use-printing.ts'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import edge from '../level-edge.module.css'
import { LineText } from './line-text.tsx'
import { clockTime, type LogRecord, valueAt } from './log-record.ts'
import styles from './record-table.module.css'

export interface RecordTableProps {
  readonly label: string
  readonly records: readonly LogRecord[]
  readonly columns: readonly string[]
  readonly marks: RegExp | undefined
  /** Messages over several lines. */
  readonly wrap: boolean
  readonly withDay: boolean
  readonly openId: string | undefined
  readonly onOpen: (record: LogRecord) => void
  /** The end comes near. */
  readonly onEnd?: () => void
  /** Below the last record. */
  readonly footer?: ReactNode
  /** How many there are in all, where that is known. */
  readonly total?: number | undefined
  /** Rows that stand there less than this are new: the first so many. */
  readonly fresh?: number
  /** The element that scrolls. */
  readonly scroller?: RefObject<HTMLDivElement | null>
  readonly onScroll?: () => void
}

const ROW_HEIGHT = 28
const NARROW_ROW_HEIGHT = 58
/** Rows before the end at which more are asked for. */
const NEAR_END = 60
/** Rows on paper. */
const MAX_PRINTED = 1_000
/** Characters of a message that a row shows. */
const MAX_ROW_TEXT = 1_000
const COLUMN_WIDTHS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    service: `minmax(${rem(88)}, ${rem(140)})`,
    trace_id: rem(250),
    log_id: rem(270),
    span_id: rem(140),
  }),
)

export function RecordTable(props: RecordTableProps) {
  const { label, records, columns, marks, wrap, withDay, onEnd, footer, total = records.length, fresh = 0, onScroll } = props
  const isNarrow = useMediaQuery(atMost(700), undefined, { getInitialValueInEffect: false }) ?? false
  const own = useRef<HTMLDivElement>(null)
  const scroller = props.scroller ?? own
  const id = useId()
  const rowHeight = scaled(isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT)
  const virtualizer = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 14,
    getItemKey: at => records[at]!.id,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured holds for one layout
  useEffect(() => {
    virtualizer.measure()
  }, [wrap, isNarrow, virtualizer])
  const { here, openAt, openRow, onKeyDown } = useWalk(props, at => virtualizer.scrollToIndex(at, { align: 'auto' }))

  const isPrinting = usePrinting()
  const rows = isPrinting
    ? records.slice(0, MAX_PRINTED).map(({ id: key }, index) => ({ key, index, start: 0 }))
    : virtualizer.getVirtualItems()
  const lastShown = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (!isPrinting && records.length > 0 && lastShown >= records.length - NEAR_END) onEnd?.()
  }, [isPrinting, lastShown, records.length, onEnd])

  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-activedescendant={here >= 0 && rows.some(({ index }) => index === here) ? `${id}-${here}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={onScroll}
      style={{ '--columns': gridTemplate(columns, withDay) } as CSSProperties}
      data-wrap={wrap}
    >
      <div className={styles.head} role="row" aria-rowindex={1}>
        {['time', 'level', ...columns, 'message'].map(column => (
          <span key={column} role="columnheader">
            {column}
          </span>
        ))}
      </div>
      <div className={styles.rows} style={{ height: virtualizer.getTotalSize() }} role="rowgroup">
        {rows.map(({ index, start, key }) => (
          <div
            key={key}
            id={`${id}-${index}`}
            data-index={index}
            ref={wrap && !isPrinting ? virtualizer.measureElement : undefined}
            className={`${styles.row} ${edge.edge}`}
            style={{ transform: `translateY(${start}px)` }}
            role="row"
            aria-rowindex={index + 2}
            aria-selected={index === here}
            data-odd={index % 2 === 1}
            data-open={index === openAt}
            data-fresh={index < fresh}
            data-level={records[index]!.level}
          >
            <RowCells
              record={records[index]!}
              time={clockTime(records[index]!.timestampMs, withDay)}
              columns={columns}
              marks={marks}
              onOpen={openRow}
            />
          </div>
        ))}
      </div>
      {footer !== undefined && <div className={styles.footer}>{footer}</div>}
      {isPrinting && total > rows.length && (
        <p className={styles.printed}>
          The first {formatCount(rows.length)} of {formatCount(total)} records. An export has all of them.
        </p>
      )}
    </div>
  )
}

function gridTemplate(columns: readonly string[], withDay: boolean): string {
  const own = columns.map(column => COLUMN_WIDTHS.get(column) ?? `minmax(${rem(72)}, ${rem(160)})`)
  return `${rem(withDay ? 148 : 98)} ${rem(50)} ${own.join(' ')} minmax(${rem(160)}, 1fr)`
}

/** Where one is in the table, and how one gets on: by the keys, or with the mouse. `showRow` brings a row in sight. */
function useWalk({ records, openId, onOpen }: RecordTableProps, showRow: (at: number) => void) {
  const [activeId, setActiveId] = useState<string>()
  const openAt = placeOf(records, openId)
  const activeAt = placeOf(records, activeId)
  const here = activeAt >= 0 ? activeAt : openAt
  // A link, or a line around another record, has opened one: its row comes in sight, once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place of the row changes without a step
  useEffect(() => {
    if (openAt >= 0) showRow(openAt)
  }, [openId, openAt >= 0])
  const move = (by: number) => {
    if (records.length === 0) return
    leaveControl()
    const next = Math.min(Math.max(here + by, 0), records.length - 1)
    setActiveId(records[next]!.id)
    showRow(next)
    if (openId !== undefined) onOpen(records[next]!)
  }
  const openHere = () => records[here] !== undefined && onOpen(records[here])
  useShortcut('j', 'Next record', () => move(1), { group: 'Logs' })
  useShortcut('k', 'Record before', () => move(-1), { group: 'Logs' })
  useShortcut('Enter', 'Open the record', openHere, { group: 'Logs', enabled: here >= 0 })

  const latestOnOpen = useRef(onOpen)
  latestOnOpen.current = onOpen
  const openRow = useCallback((record: LogRecord) => {
    setActiveId(record.id)
    latestOnOpen.current(record)
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -records.length, End: records.length }[event.key]
    if (by === undefined) return
    event.preventDefault()
    move(by)
  }
  return { here, openAt, openRow, onKeyDown }
}

const placeOf = (records: readonly LogRecord[], id: string | undefined): number =>
  id === undefined ? -1 : records.findIndex(record => record.id === id)

interface RowCellsProps extends Pick<RecordTableProps, 'columns' | 'marks' | 'onOpen'> {
  readonly record: LogRecord
  /** By the clock of the console. */
  readonly time: string
}

/** Walking and scrolling draw no row anew. */
const RowCells = memo(({ record, time, columns, marks, onOpen }: RowCellsProps) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: the grid has the keys for it
  <div className={styles.cells} role="presentation" onClick={() => hasNoSelection() && onOpen(record)}>
    <span role="gridcell" className={styles.time}>
      {time}
    </span>
    <span role="gridcell" className={styles.level}>
      <LevelBadge level={record.level} />
    </span>
    {columns.map(column => (
      <span key={column} role="gridcell" className={styles.cell} dir="auto">
        {column === 'service' ? <ServiceName name={record.service} /> : <VisibleText text={valueAt(record.source, column)} />}
      </span>
    ))}
    <span role="gridcell" className={styles.message} dir="auto">
      <LineText record={record} max={MAX_ROW_TEXT} marks={marks} />
    </span>
  </div>
))

/** One marks text to copy it, and does not want the record to open. */
const hasNoSelection = (): boolean => window.getSelection()?.isCollapsed !== false
