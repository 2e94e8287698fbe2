/** Asks before what wakes others up, or changes many incidents at once. */
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { IncidentAction } from '../../../../domain/incidents/incident-status.ts'
import type { ChangeNote } from '../../../api/ticketing.ts'
import { noteOf, useActor } from '../data/use-actor.ts'
import { ACTION_WORDS } from '../rules/incident-actions.ts'

export interface AskedChange {
  readonly action: IncidentAction
  readonly title: string
}

export interface ConfirmChangeProps {
  /** Undefined: nothing is asked. */
  readonly asked: AskedChange | undefined
  /** The caller keeps it: a question that is closed by mistake takes no words along. */
  readonly note: string
  readonly onNote: (note: string) => void
  readonly onClose: () => void
  readonly onConfirm: (note: ChangeNote) => void
}

export function ConfirmChange({ asked, ...rest }: ConfirmChangeProps) {
  return (
    <Modal opened={asked !== undefined} onClose={rest.onClose} title={asked?.title}>
      {asked !== undefined && <ConfirmForm asked={asked} {...rest} />}
    </Modal>
  )
}

function ConfirmForm({ asked, note, onNote, onClose, onConfirm }: ConfirmChangeProps & { readonly asked: AskedChange }) {
  const [actor, setActor] = useActor()
  const { label, hint } = ACTION_WORDS[asked.action]
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        onConfirm(noteOf(actor, note))
        onClose()
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{hint}</Text>
        <Textarea
          label="Note"
          description="For the timeline and the tickets"
          autosize
          minRows={2}
          maxRows={8}
          value={note}
          data-autofocus
          onChange={event => onNote(event.currentTarget.value)}
        />
        <TextInput label="Your name" value={actor} onChange={event => setActor(event.currentTarget.value)} autoComplete="nickname" />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">{label}</Button>
        </Group>
      </Stack>
    </form>
  )
}
