/** Actions on an incident, with a note for the audit trail and the tickets. */

import { Button, Kbd, Textarea, TextInput, Tooltip } from '@mantine/core'
import { useRef, useState } from 'react'
import type { IncidentAction } from '../../../../domain/incidents/incident-status.ts'
import type { ChangeNote, Incident } from '../../../api/ticketing.ts'
import { useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { visibleText } from '../../../components/text/visible-text.ts'
import { noteOf, useActor } from '../data/use-actor.ts'
import { useComment, useIncidentChange } from '../data/use-incident-changes.ts'
import { useNoteDraft } from '../data/use-note-draft.ts'
import { ConfirmChange } from '../list/confirm-change.tsx'
import { ACTION_WORDS, allowedActions, likeliestAction } from '../rules/incident-actions.ts'
import styles from './detail.module.css'

const MAX_NOTE = 4_000
const MAX_ACTOR = 200
const GROUP = 'This incident'

export function ActionBar({ incident: { id, status, service } }: { readonly incident: Incident }) {
  const { note, setNote, restore } = useNoteDraft(id)
  const change = useIncidentChange({ onError: failed => restore(failed.note.note) })
  const [actor, setActor] = useActor()
  const [isEscalating, setEscalating] = useState(false)
  const allowed = allowedActions(status)
  const comment = useComment(id, failed => restore(failed.note))
  const noteField = useRef<HTMLTextAreaElement>(null)
  const say = () => {
    if (note.trim() === '') return noteField.current?.focus()
    setNote('')
    comment.mutate(noteOf(actor, note))
  }

  const act = (action: IncidentAction, sent: ChangeNote = noteOf(actor, note)) => {
    setNote('')
    change({ ids: [id], action, note: sent })
  }
  const ask = (action: IncidentAction) => (action === 'escalate' ? setEscalating(true) : act(action))
  useActionKeys(allowed, ask)
  useShortcut('c', 'Comment: the note alone', say, { group: GROUP })
  useShortcut('n', 'Write a note; Escape ends it', () => noteField.current?.focus(), { group: GROUP })

  return (
    <div className={styles.actionBar}>
      <div className={styles.buttons}>
        {allowed.map(action => (
          <Tooltip key={action} label={ACTION_WORDS[action].hint} multiline maw={280}>
            <Button
              size="sm"
              variant={action === likeliestAction(status) ? 'filled' : 'default'}
              onClick={() => ask(action)}
              rightSection={
                <Kbd size="xs" className={styles.kbd} aria-hidden>
                  {ACTION_WORDS[action].key}
                </Kbd>
              }
            >
              {ACTION_WORDS[action].label}
            </Button>
          </Tooltip>
        ))}
      </div>
      <div className={styles.noteFields}>
        <Textarea
          ref={noteField}
          aria-label="Note, for the timeline and the tickets"
          placeholder="Note, also for the tickets"
          autosize
          minRows={1}
          maxRows={6}
          maxLength={MAX_NOTE}
          value={note}
          onChange={event => setNote(event.currentTarget.value)}
          // The keys of the actions would be letters of the note.
          onKeyDown={event => event.key === 'Escape' && event.currentTarget.blur()}
        />
        <TextInput
          aria-label="Your name, kept in this browser"
          placeholder="Your name"
          maxLength={MAX_ACTOR}
          value={actor}
          onChange={event => setActor(event.currentTarget.value)}
          autoComplete="nickname"
        />
        <Tooltip label="Puts the note into the timeline and on the tickets; nothing else changes." multiline maw={280}>
          <Button
            size="sm"
            variant="default"
            onClick={say}
            rightSection={
              <Kbd size="xs" className={styles.kbd} aria-hidden>
                c
              </Kbd>
            }
          >
            Comment
          </Button>
        </Tooltip>
      </div>
      <ConfirmChange
        asked={isEscalating ? { action: 'escalate', title: `Escalate the incident of ${visibleText(service)}?` } : undefined}
        note={note}
        onNote={setNote}
        onClose={() => setEscalating(false)}
        onConfirm={sent => act('escalate', sent)}
      />
    </div>
  )
}

function useActionKeys(allowed: readonly IncidentAction[], ask: (action: IncidentAction) => void): void {
  const enabled = (action: IncidentAction) => ({ group: GROUP, enabled: allowed.includes(action) })
  useShortcut('a', 'Acknowledge', () => ask('acknowledge'), enabled('acknowledge'))
  useShortcut('r', 'Resolve', () => ask('resolve'), enabled('resolve'))
  useShortcut('e', 'Escalate', () => ask('escalate'), enabled('escalate'))
  useShortcut('o', 'Reopen', () => ask('reopen'), enabled('reopen'))
}
