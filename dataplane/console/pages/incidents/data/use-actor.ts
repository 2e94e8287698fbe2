import { useLocalStorage } from '@mantine/hooks'
import type { ChangeNote } from '../../../api/ticketing.ts'

/** The actor in the audit trail; kept in this browser. */
export function useActor(): readonly [string, (actor: string) => void] {
  const [actor, setActor] = useLocalStorage({ key: 'logpipeline.actor', defaultValue: '', getInitialValueInEffect: false })
  return [actor, setActor]
}

/** Empty parts are left out. */
export function noteOf(actor: string, note: string): ChangeNote {
  return { ...(actor.trim() !== '' && { actor: actor.trim() }), ...(note.trim() !== '' && { note: note.trim() }) }
}
