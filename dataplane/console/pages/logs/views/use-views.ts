/** The saved views of this browser, the same in all parts of the page and in all its windows. */
import { useSyncExternalStore } from 'react'
import { readViews, type Saved, type SavedView } from './saved-views.ts'

/** Any access may throw where the browser keeps nothing. */
export const storage = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
}

const listeners = new Set<() => void>()
let known: readonly SavedView[] | undefined

function forget(): void {
  known = undefined
  for (const each of listeners) each()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Another window has saved one.
  window.addEventListener('storage', forget)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    // Nobody listens on other pages: another window may save a view meanwhile.
    window.removeEventListener('storage', forget)
    known = undefined
  }
}

const read = (): readonly SavedView[] => {
  known ??= readViews(storage)
  return known
}

export function useViews(): readonly SavedView[] {
  return useSyncExternalStore(subscribe, read)
}

/** Views are shown as they are after a change. */
export function noteSaved(saved: Saved): void {
  if (saved.ok) forget()
}
