import type { Versioned } from '../../ports/search-store.ts'
import { documentKey } from './document-key.ts'

const MAX_KEPT = 20_000

/** Versions written a moment ago: a search may still show the version before. */
export class RecentVersions {
  readonly #seqNos = new Map<string, number>()

  add(document: Pick<Versioned<unknown>, 'index' | 'id' | 'seqNo'>): void {
    const key = documentKey(document)
    this.#seqNos.delete(key)
    if (this.#seqNos.size >= MAX_KEPT) this.#seqNos.delete(this.#seqNos.keys().next().value!)
    this.#seqNos.set(key, document.seqNo)
  }

  /** Whether a hit of a search is older than what is known. */
  isKnown(document: Pick<Versioned<unknown>, 'index' | 'id' | 'seqNo'>): boolean {
    const known = this.#seqNos.get(documentKey(document))
    return known !== undefined && document.seqNo < known
  }
}
