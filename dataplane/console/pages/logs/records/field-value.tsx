/** A field of a record, with what can be done with its value. */

import { IconCheck, IconColumnInsertRight, IconColumnRemove, IconCopy, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { Fragment, type ReactNode } from 'react'
import { useCopy } from '../../../components/copy/use-copy.ts'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { useLogsActions } from '../filters.ts'
import { isTraceId } from '../requests/trace.ts'
import { cutText } from './cut-text.ts'
import type { FieldValue } from './log-record.ts'
import styles from './record-panel.module.css'

/** A long name breaks between its parts. */
function breakable(field: string): readonly ReactNode[] {
  return field.split(/(?<=[._])/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
    <Fragment key={at}>
      {at > 0 && <wbr />}
      <VisibleText text={part} />
    </Fragment>
  ))
}

/** Characters of a value that are shown: a stack trace whole. */
const MAX_SHOWN_VALUE = 20_000

export function FieldRow({ field: { field, value, isSearchable } }: { readonly field: FieldValue }) {
  const { filterOf, setFilter, showTrace, hasColumn, toggleColumn } = useLogsActions()
  const kind = filterOf(field, value)
  const { shown, note } = cutText(value, MAX_SHOWN_VALUE)
  return (
    <div className={styles.field} data-kind={kind}>
      <dt title={visibleText(field)} dir="auto">
        {breakable(field)}
      </dt>
      <dd>
        {field === 'trace_id' && isTraceId(value) ? (
          <button type="button" className={styles.link} onClick={() => showTrace(value)}>
            {value}
          </button>
        ) : (
          <span>{value === '' ? '∅' : <ForeignText text={shown} />}</span>
        )}
        {note !== undefined && <p className={styles.cut}>{note}</p>}
        <div className={styles.actions}>
          {isSearchable && (
            <>
              <Action
                label={kind === 'in' ? `No longer only ${field} ${value}` : `Only ${field} ${value}`}
                icon={<IconZoomIn size={14} />}
                pressed={kind === 'in'}
                onClick={() => setFilter(field, value, kind === 'in' ? 'none' : 'in')}
              />
              <Action
                label={kind === 'out' ? `No longer leave out ${field} ${value}` : `Leave out ${field} ${value}`}
                icon={<IconZoomOut size={14} />}
                pressed={kind === 'out'}
                onClick={() => setFilter(field, value, kind === 'out' ? 'none' : 'out')}
              />
            </>
          )}
          <Action
            label={hasColumn(field) ? `Take the column ${field} away` : `Show ${field} as a column`}
            icon={hasColumn(field) ? <IconColumnRemove size={14} /> : <IconColumnInsertRight size={14} />}
            pressed={hasColumn(field)}
            onClick={() => toggleColumn(field)}
          />
          <CopyAction field={field} value={value} />
        </div>
      </dd>
    </div>
  )
}

function CopyAction({ field, value }: Pick<FieldValue, 'field' | 'value'>) {
  const { isCopied, copy } = useCopy()
  const icon = isCopied ? <IconCheck size={14} /> : <IconCopy size={14} />
  return <Action label={isCopied ? 'Copied' : `Copy ${field}`} icon={icon} onClick={() => copy(value)} />
}

interface ActionProps {
  readonly label: string
  readonly icon: React.ReactNode
  readonly pressed?: boolean
  readonly onClick: () => void
}

/** Plain buttons: a record has hundreds of them, and is drawn anew at each step. */
function Action({ label, icon, pressed, onClick }: ActionProps) {
  const shown = visibleText(label)
  return (
    <button type="button" className={styles.action} title={shown} aria-label={shown} aria-pressed={pressed} onClick={onClick}>
      {icon}
    </button>
  )
}
