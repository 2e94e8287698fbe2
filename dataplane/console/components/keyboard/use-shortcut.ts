/** Commands of the keyboard: pages say theirs with `useShortcut`, the shell listens, `?` shows them all. */
import { useEffect, useRef } from 'react'
import { isLetterKey, usesLetterKeys } from './letter-keys.ts'
import { createShortcutRegistry } from './shortcuts.ts'

export const shortcuts = createShortcutRegistry()

export interface ShortcutOptions {
  /** Heading in the help. */
  readonly group?: string
  readonly enabled?: boolean
}

/** `useShortcut('j', 'Next record', next)`; the latest `run` counts. */
export function useShortcut(keys: string, description: string, run: () => void, { group, enabled = true }: ShortcutOptions = {}): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (!enabled) return
    return shortcuts.add({ keys, description, ...(group !== undefined && { group }), run: () => latest.current() })
  }, [keys, description, group, enabled])
}

/** Listens on the whole page; called once, by the shell. */
export function useShortcutListener(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isInDialog(event.target) || (isLetterKey(event.key) && !usesLetterKeys())) return
      const press = {
        key: event.key,
        modified: event.ctrlKey || event.metaKey || event.altKey,
        typing: takesKey(event.target, event.key),
        atMs: event.timeStamp,
      }
      if (shortcuts.press(press)) event.preventDefault()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

const TEXT_FIELDS =
  'input:not([type=checkbox]):not([type=radio]):not([type=button]):not([type=file]), textarea, select, [contenteditable=true]'

/** Enter and the space bar also belong to buttons and links. */
function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false
  if (target.closest(TEXT_FIELDS) !== null) return true
  return (
    (key === 'Enter' || key === ' ') &&
    target.closest('a, button, summary, [role=button], [role=tab], [role=option], [role=menuitem]') !== null
  )
}

/** Takes the focus off a link or button: after a key that leads elsewhere, Enter is for the place it led to. Tab goes on from where the focus was. */
export function leaveControl(): void {
  const focused = document.activeElement
  if (focused instanceof HTMLElement && takesKey(focused, 'Enter')) focused.blur()
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role=dialog], [role=menu], [role=listbox]') !== null
}
