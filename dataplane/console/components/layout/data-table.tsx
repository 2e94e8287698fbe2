/** A table of up to some hundred rows. With `onOpen`, `j` and `k` walk through the rows and Enter opens one. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { leaveControl, useShortcut } from '../keyboard/use-shortcut.ts'
import styles from './data-table.module.css'

export interface Column<T> {
  readonly key: string
  readonly title: ReactNode
  readonly render: (row: T) => ReactNode
  readonly align?: 'left' | 'right'
  /** Takes the room that is left. */
  readonly grow?: boolean
  /** Left out on narrow screens. */
  readonly hideWhenNarrow?: boolean
}

export interface DataTableProps<T> {
  /** The content of the table, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  /** A row is to be opened, by mouse or keyboard. There must be a link or button in the row that does the same. */
  readonly onOpen?: (row: T) => void
}

export function DataTable<T>({ label, columns, rows, rowKey, onOpen }: DataTableProps<T>) {
  const [selected, setSelected] = useState(-1)
  const body = useRef<HTMLTableSectionElement>(null)
  const enabled = onOpen !== undefined && rows.length > 0
  const group = label
  const move = (by: number) => {
    leaveControl()
    setSelected(current => Math.min(Math.max(current + by, 0), rows.length - 1))
  }
  useShortcut('j', 'Next row', () => move(1), { group, enabled })
  useShortcut('k', 'Row before', () => move(-1), { group, enabled })
  useShortcut('Enter', 'Open the row', () => rows[selected] !== undefined && onOpen?.(rows[selected]), {
    group,
    enabled: enabled && selected >= 0,
  })
  // Newer browsers answer with a promise, which is no way to end an effect.
  useEffect(() => {
    body.current?.rows[selected]?.scrollIntoView({ block: 'nearest' })
  }, [selected])

  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.key} scope="col" {...cell(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, i) => (
            <tr
              key={rowKey(row)}
              data-opens={onOpen !== undefined}
              data-selected={i === selected}
              onClick={onOpen && (event => !isControl(event.target) && onOpen(row))}
            >
              {columns.map(column => (
                <td key={column.key} {...cell(column)}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cell<T>({ align, grow, hideWhenNarrow }: Column<T>) {
  return {
    'data-align': align ?? 'left',
    'data-narrow': hideWhenNarrow ? 'hide' : undefined,
    className: grow ? styles.grow : undefined,
  }
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, label') !== null
}
