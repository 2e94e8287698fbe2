import { useSyncExternalStore } from 'react'

/** The time of the browser in ms, which moves on in steps: all that show a time ago move together. */
const STEP_MS = 10_000
const listeners = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Nobody has looked for a while, and the time stood still.
  if (timer === undefined) nowMs = Date.now()
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of listeners) each()
  }, STEP_MS)
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
