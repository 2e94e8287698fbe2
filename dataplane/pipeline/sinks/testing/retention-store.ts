/** The suites of retention share a time, and a store with the product's index templates. */
import type { SearchStore } from '../../../ports/search-store.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'

export const NOW_MS = Date.UTC(2026, 10, 21, 12)
const DAY_MS = 86_400_000

/** The time so many days before now. */
export const ago = (days: number): string => new Date(NOW_MS - days * DAY_MS).toISOString()
export const clock = { nowMs: () => NOW_MS, sleep: async () => {} }
export const signal = new AbortController().signal

/** Gives an empty store. */
export type OpenStore = () => Promise<{ readonly store: SearchStore; readonly stop: () => Promise<void> }>

export async function withStore(open: OpenStore, test: (store: SearchStore) => Promise<void>): Promise<void> {
  const { store, stop } = await open()
  try {
    await putIndexTemplates(store)
    await test(store)
  } finally {
    await stop()
  }
}
