/** Views that the user has given a name, kept in this browser: a view is the search part of the page's URL. */

/** Views in one browser. */
export const MAX_SAVED_VIEWS = 50
/** Characters of a name. */
export const MAX_VIEW_NAME = 80
/** Characters of a view. */
export const MAX_VIEW_LENGTH = 8_000
const KEY = 'logpipeline.logs.views'

export interface SavedView {
  readonly name: string
  /** Begins with `?`, or is empty. */
  readonly search: string
}

/** The part of `localStorage` that is used here. Every call may throw. */
export type ViewStorage = Pick<Storage, 'getItem' | 'setItem'>

/** An entry that cannot be read is no view. */
export function readViews(storage: ViewStorage): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isSaved).slice(0, MAX_SAVED_VIEWS) : []
  } catch {
    return []
  }
}

function isSaved(value: unknown): value is SavedView {
  const view = value as SavedView | null
  return (
    typeof view === 'object' &&
    view !== null &&
    typeof view.name === 'string' &&
    view.name.length <= MAX_VIEW_NAME &&
    typeof view.search === 'string' &&
    view.search.length <= MAX_VIEW_LENGTH
  )
}

/** The search part of a page's URL as a view: it holds no open record. */
export function viewOf(search: string): string {
  const parameters = new URLSearchParams(search)
  for (const name of ['record', 'tab']) parameters.delete(name)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** Whether the page shows the view, in any order of the parameters. */
export function isView(view: string, search: string): boolean {
  const sorted = (text: string) => [...new URLSearchParams(viewOf(text))].map(pair => pair.join('=')).sort().join('&') // biome-ignore format: one line
  return sorted(view) === sorted(search)
}

export type Saved = { readonly ok: true; readonly views: readonly SavedView[] } | { readonly ok: false; readonly problem: string }

/** A view of the same name is replaced. */
export function saveView(storage: ViewStorage, { name, search }: SavedView): Saved {
  const trimmed = name.trim()
  if (trimmed === '') return { ok: false, problem: 'Give the view a name.' }
  if (trimmed.length > MAX_VIEW_NAME)
    return { ok: false, problem: `A name has at most ${MAX_VIEW_NAME} characters, and this one ${trimmed.length}.` }
  if (search.length > MAX_VIEW_LENGTH) return { ok: false, problem: 'This view is too long to be kept: shorten the search.' }
  const others = readViews(storage).filter(view => view.name !== trimmed)
  if (others.length >= MAX_SAVED_VIEWS) return { ok: false, problem: `There are ${MAX_SAVED_VIEWS} views already: delete one first.` }
  const views = [...others, { name: trimmed, search }].sort((a, b) => a.name.localeCompare(b.name))
  return write(storage, views)
}

export function deleteView(storage: ViewStorage, name: string): Saved {
  return write(
    storage,
    readViews(storage).filter(view => view.name !== name),
  )
}

function write(storage: ViewStorage, views: readonly SavedView[]): Saved {
  try {
    storage.setItem(KEY, JSON.stringify(views))
    return { ok: true, views }
  } catch {
    return { ok: false, problem: 'This browser keeps nothing for this page: allow it to store site data.' }
  }
}
