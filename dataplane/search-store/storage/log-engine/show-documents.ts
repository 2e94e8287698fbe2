import { Turns } from '../../turns.ts'
import type { StoredDocument } from '../index-storage.ts'
import type { FoundDocument } from './ids/id-places.ts'
import { SealedSegment } from './sealed/sealed-segment.ts'
import type { Tail } from './tail/tail.ts'

type Found = FoundDocument<SealedSegment | Tail>

/** Makes of a document and its place in the list what is to be answered. */
export type ShowDocument<T> = (document: StoredDocument, at: number) => T | Promise<T>

/** Shows documents in the order of their ids; undefined where there is none. Others run meanwhile. */
export async function showDocuments<T>(
  found: readonly (Found | undefined)[],
  ids: readonly string[],
  show: ShowDocument<T>,
): Promise<readonly (T | undefined)[]> {
  const shown = new Array<T | undefined>(ids.length)
  const turns = new Turns()
  // Neighbours lie in one block, which is unpacked once.
  const order = [...found.keys()].filter(at => found[at] !== undefined).sort((a, b) => nextTo(found[a]!, found[b]!))
  for (const at of order) {
    const made = show(documentIn(found[at]!, ids[at]!), at)
    shown[at] = made instanceof Promise ? await made : made
    if (turns.isDue()) await turns.next()
  }
  return shown
}

function nextTo(a: Found, b: Found): number {
  return a.holder.number - b.holder.number || a.doc - b.doc
}

function documentIn({ holder, doc }: Found, id: string): StoredDocument {
  if (holder instanceof SealedSegment) return { id, seqNo: holder.seqNo(doc), version: holder.version(doc), source: holder.source(doc) }
  if (holder.sealed !== undefined) return documentIn({ holder: holder.sealed, doc }, id)
  return { id, seqNo: holder.seqs.at(doc), version: holder.versions.get(doc) ?? 1, source: holder.stored.source(doc) }
}
