import { Button } from '@mantine/core'
import { useState } from 'react'
import type { IncidentAction } from '../../../../domain/incidents/incident-status.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { useIncidentChange } from '../data/use-incident-changes.ts'
import { ACTION_WORDS, allowedForMany } from '../rules/incident-actions.ts'
import { ConfirmChange } from './confirm-change.tsx'
import styles from './list.module.css'

export interface BatchBarProps {
  readonly chosen: readonly Incident[]
  /** Incidents in the list, of which there may be more. */
  readonly total: number
  readonly hasMore: boolean
  readonly onChooseAll: () => void
  readonly onClear: () => void
}

/** Actions on all chosen incidents; each action says for how many of them it is. */
export function BatchBar({ chosen, total, hasMore, onChooseAll, onClear }: BatchBarProps) {
  const [asked, setAsked] = useState<IncidentAction>()
  const [note, setNote] = useState('')
  const change = useIncidentChange({ onSuccess: onClear })
  const ids = chosen.map(({ id }) => id)
  return (
    <div className={styles.batch} role="toolbar" aria-label="Actions on chosen incidents">
      <strong className="numeric">{chosen.length} chosen</strong>
      {allowedForMany(chosen.map(({ status }) => status)).map(({ action, count }) => (
        <Button key={action} size="compact-sm" variant="default" onClick={() => setAsked(action)}>
          {ACTION_WORDS[action].label}
          {count < chosen.length && ` ${count}`}
        </Button>
      ))}
      {chosen.length < total && (
        <Button size="compact-sm" variant="subtle" onClick={onChooseAll}>
          All {total}
          {hasMore && ' listed'}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        None
      </Button>
      <ConfirmChange
        asked={
          asked && {
            action: asked,
            title: `${ACTION_WORDS[asked].label} ${ids.length} ${ids.length === 1 ? 'incident' : 'incidents'}?`,
          }
        }
        note={note}
        onNote={setNote}
        onClose={() => setAsked(undefined)}
        onConfirm={sent => change({ ids, action: asked!, note: sent })}
      />
    </div>
  )
}
