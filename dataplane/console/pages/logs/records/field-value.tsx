/** A field of a record, with what can be done with its value. */
import { ActionIcon, Tooltip } from '@mantine/core'
import { IconColumnInsertRight, IconColumnRemove, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { CopyButton } from '../../../components/copy-button.tsx'
import { useLogsActions } from '../filters.ts'
import { isTraceId } from '../requests/trace.ts'
import type { FieldValue } from './log-record.ts'
import styles from './record-panel.module.css'

export function FieldRow({ field: { field, value, isSearchable } }: { readonly field: FieldValue }) {
  const { filterOf, setFilter, showTrace, hasColumn, toggleColumn } = useLogsActions()
  const kind = filterOf(field, value)
  return (
    <div className={styles.field} data-kind={kind}>
      <dt title={field}>{field}</dt>
      <dd>
        {field === 'trace_id' && isTraceId(value) ? (
          <button type="button" className={styles.link} onClick={() => showTrace(value)}>
            {value}
          </button>
        ) : (
          <span>{value === '' ? '∅' : value}</span>
        )}
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
          <CopyButton text={value} label={`Copy ${field}`} />
        </div>
      </dd>
    </div>
  )
}

interface ActionProps {
  readonly label: string
  readonly icon: React.ReactNode
  readonly pressed: boolean
  readonly onClick: () => void
}

function Action({ label, icon, pressed, onClick }: ActionProps) {
  const short = label.length > 60 ? `${label.slice(0, 60)}…` : label
  return (
    <Tooltip label={short}>
      <ActionIcon
        size="sm"
        aria-label={short}
        aria-pressed={pressed}
        {...(pressed && { variant: 'light', color: 'blue' })}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}
