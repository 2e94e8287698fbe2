import { firstAtLeast } from '../../../first-at-least.ts'
import { type BlockRef, forEachId } from '../format/block/block.ts'
import type { StoredId } from '../format/document-id.ts'
import { idHash, idKeyOf, isSameId } from '../format/document-id.ts'

/** Documents of one segment are numbered below this. */
const DOC_SPAN = 65_536

/** The documents of a segment in the order of their ids' hashes, each as `hash · 65,536 + document`: 8 bytes a document. */
export type IdOrder = Float64Array

/** `idBlocks`: of all `docs` documents. */
export function orderOfIds(docs: number, idBlocks: Iterable<readonly [ref: BlockRef, ids: Buffer]>): IdOrder {
  const order = new Float64Array(docs)
  for (const [ref, ids] of idBlocks)
    forEachId(ref, ids, (k, start, end) => {
      const doc = ref.firstDoc + k
      order[doc] = (idHash(ids, start, end) >>> 0) * DOC_SPAN + doc
    })
  return order.sort()
}

/** The documents whose id has this hash, ascending. */
export function docsOfHash(order: IdOrder, hash: number): readonly number[] {
  const first = (hash >>> 0) * DOC_SPAN
  const docs: number[] = []
  for (let at = firstAtLeast(order, first); at < order.length && order[at]! < first + DOC_SPAN; at++) docs.push(order[at]! - first)
  return docs
}

interface IdHolder {
  docsOfIdHash(hash: number): readonly number[]
  storedId(doc: number): StoredId
}

/** The documents with these ids, ascending, dead ones too. */
export function docsWithIds(holder: IdHolder, ids: Iterable<string>): Uint32Array {
  const docs: number[] = []
  for (const id of ids) {
    const key = idKeyOf(id)
    for (const doc of holder.docsOfIdHash(key.hash)) {
      const { bytes, isUuid } = holder.storedId(doc)
      if (isSameId(key, bytes, isUuid)) docs.push(doc)
    }
  }
  return Uint32Array.from(docs).sort()
}
