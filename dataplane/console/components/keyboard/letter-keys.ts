/** Whether keys that write a character are commands. Who speaks to the computer, or touches keys by accident, turns them off (WCAG 2.1.4); kept in this browser. */
const KEY = 'logpipeline.letter-keys'
const OFF = 'off'

const listeners = new Set<() => void>()
let chosen: boolean | undefined

export function usesLetterKeys(): boolean {
  chosen ??= readChoice()
  return chosen
}

export function setLetterKeys(areUsed: boolean): void {
  chosen = areUsed
  try {
    localStorage.setItem(KEY, areUsed ? 'on' : OFF)
  } catch {
    // Where the browser keeps nothing, the choice holds until the page is loaded anew.
  }
  for (const each of listeners) each()
}

/** Returns the end of the listening. */
export function onLetterKeysChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function isLetterKey(key: string): boolean {
  return [...key].length === 1
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(KEY) !== OFF
  } catch {
    return true
  }
}
