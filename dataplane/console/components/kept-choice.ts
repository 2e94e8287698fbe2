/** A choice between two, kept in this browser under a key. */
export interface KeptChoice {
  /** Read once, and known from then on. */
  get(): boolean
  set(value: boolean): void
  /** Returns the end of the listening. */
  subscribe(listener: () => void): () => void
}

/** `texts`: the two as they are kept. Where neither is, the choice is `otherwise`. */
export function createKeptChoice(key: string, texts: { readonly yes: string; readonly no: string }, otherwise: boolean): KeptChoice {
  const listeners = new Set<() => void>()
  let chosen: boolean | undefined
  const read = (): boolean => {
    try {
      const kept = localStorage.getItem(key)
      return otherwise ? kept !== texts.no : kept === texts.yes
    } catch {
      return otherwise
    }
  }
  return {
    get() {
      chosen ??= read()
      return chosen
    },
    set(value) {
      chosen = value
      try {
        localStorage.setItem(key, value ? texts.yes : texts.no)
      } catch {
        // Where the browser keeps nothing, the choice holds until the page is loaded anew.
      }
      for (const each of listeners) each()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
