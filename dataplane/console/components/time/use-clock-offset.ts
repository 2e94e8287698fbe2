import { useSyncExternalStore } from 'react'
import { clockOffset, onClockChange } from '../../api/server-clock.ts'

/** How far the server is ahead of this computer, ms. */
export function useClockOffset(): number {
  return useSyncExternalStore(onClockChange, clockOffset)
}
