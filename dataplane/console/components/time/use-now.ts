import { useSyncExternalStore } from 'react'
import { onClockChange, serverNow } from '../../api/server-clock.ts'

/** The time of the server in ms, which moves on in steps: all that show a time ago move together. */
const STEP_MS = 10_000
const listeners = new Set<() => void>()
let nowMs = serverNow()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  nowMs = serverNow()
  for (const each of listeners) each()
}
onClockChange(tick)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Nobody has looked for a while, and the time stood still.
  if (timer === undefined) nowMs = serverNow()
  timer ??= setInterval(tick, STEP_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs)
}
