import { useState } from 'react'

export interface NoteDraft {
  readonly note: string
  setNote(note: string): void
  /** Puts a note that did not get through back, unless another was begun. */
  restore(note: string | undefined): void
}

/** The note that is being written on an incident. It is kept in this window until it is sent, so that it outlives a look at the logs, and a login. */
export function useNoteDraft(id: string): NoteDraft {
  const [note, showNote] = useState(() => readDraft(id))
  const setNote = (next: string) => {
    keepDraft(id, next)
    showNote(next)
  }
  return {
    note,
    setNote,
    restore: failed => readDraft(id) === '' && setNote(failed ?? ''),
  }
}

const keyOf = (id: string) => `logpipeline.note.${id}`

function readDraft(id: string): string {
  try {
    return sessionStorage.getItem(keyOf(id)) ?? ''
  } catch {
    return ''
  }
}

function keepDraft(id: string, note: string): void {
  try {
    if (note === '') sessionStorage.removeItem(keyOf(id))
    else sessionStorage.setItem(keyOf(id), note)
  } catch {
    // Where the browser keeps nothing, the note lasts as long as its field.
  }
}
