/** Which key presses mean which command: one key, or two after each other such as `g l`. No keyboard and no page in here. */
export interface Shortcut {
  /** As `KeyboardEvent.key` says them, a space between two: `j`, `?`, `Enter`, `g l`. */
  readonly keys: string
  readonly description: string
  /** Heading in the help; `Everywhere` when not given. */
  readonly group?: string
  readonly run: () => void
}

export interface KeyPress {
  readonly key: string
  /** Control, Alt or Command was held. */
  readonly modified: boolean
  /** The key went into a field that takes text. */
  readonly typing: boolean
  readonly atMs: number
}

/** The second key of two has to follow within. */
const SEQUENCE_MS = 1_200

export interface ShortcutRegistry {
  /** Returns its removal. The latest of those with equal keys runs. */
  add(shortcut: Shortcut): () => void
  list(): readonly Shortcut[]
  /** Runs what the key means; false: nothing. */
  press(press: KeyPress): boolean
}

export function createShortcutRegistry(): ShortcutRegistry {
  const shortcuts: Shortcut[] = []
  let before: { readonly key: string; readonly atMs: number } | undefined

  const find = (keys: string) => shortcuts.findLast(shortcut => shortcut.keys === keys)
  return {
    add(shortcut) {
      shortcuts.push(shortcut)
      return () => {
        const index = shortcuts.indexOf(shortcut)
        if (index >= 0) shortcuts.splice(index, 1)
      }
    },
    list: () => [...new Map(shortcuts.map(shortcut => [shortcut.keys, shortcut])).values()],
    press({ key, modified, typing, atMs }) {
      if (modified || typing) {
        before = undefined
        return false
      }
      const isSecond = before !== undefined && atMs - before.atMs <= SEQUENCE_MS
      const found = (isSecond ? find(`${before!.key} ${key}`) : undefined) ?? find(key)
      before = found === undefined ? { key, atMs } : undefined
      found?.run()
      return found !== undefined
    },
  }
}
