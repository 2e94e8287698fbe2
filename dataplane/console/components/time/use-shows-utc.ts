import { useSyncExternalStore } from 'react'
import { showsUtc, subscribeClock } from './clock.ts'

/** A part that is drawn only when its properties change needs it where it shows a time. */
export function useShowsUtc(): boolean {
  return useSyncExternalStore(subscribeClock, showsUtc)
}
