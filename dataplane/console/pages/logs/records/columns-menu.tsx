/** Which fields stand as columns, and whether messages take several lines. */

import { Button, Checkbox, Popover, Switch } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { ForeignText } from '../../../components/text/foreign-text.tsx'
import { MAX_COLUMNS } from '../logs-state.ts'
import { FieldBox } from '../search/field-box.tsx'
import type { FieldCatalog } from '../search/field-catalog.ts'
import styles from './columns-menu.module.css'

export interface ColumnsMenuProps {
  readonly columns: readonly string[]
  readonly catalog: FieldCatalog
  readonly wrap: boolean
  readonly onToggle: (field: string) => void
  readonly onWrap: (wrap: boolean) => void
}

const OFTEN = ['service', 'host', 'environment', 'region', 'trace_id', 'tenant_id', 'pattern_id']

export function ColumnsMenu({ columns, catalog, wrap, onToggle, onWrap }: ColumnsMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const listed = useMemo(() => [...new Set([...columns, ...OFTEN])], [columns])
  const offered = useMemo(
    () => [...catalog.keys()].filter(name => !listed.includes(name) && !['message', 'timestamp', 'level', 'attributes'].includes(name)),
    [catalog, listed],
  )
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={260} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={15} aria-hidden />} onClick={() => setOpen(open => !open)}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        {isOpen && (
          <div className={styles.columns}>
            <Switch label="Wrap messages" checked={wrap} onChange={event => onWrap(event.currentTarget.checked)} />
            {listed.map(field => (
              <Checkbox
                key={field}
                label={<ForeignText text={field} />}
                checked={columns.includes(field)}
                disabled={!columns.includes(field) && columns.length >= MAX_COLUMNS}
                onChange={() => onToggle(field)}
              />
            ))}
            <FieldBox label="Another field" fields={offered} onChoose={onToggle} comboboxProps={{ withinPortal: false }} />
          </div>
        )}
      </Popover.Dropdown>
    </Popover>
  )
}
