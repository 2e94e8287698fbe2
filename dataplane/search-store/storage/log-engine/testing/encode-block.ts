import { type EncodedBlock, encodeRows } from '../format/block/block.ts'
import { DocumentRows } from '../format/document-rows.ts'
import type { StagedDocument } from '../format/staged-document.ts'

/** A block of a list of documents, the first of which is number `firstDoc`. */
export function encodeBlock(documents: readonly StagedDocument[], firstDoc: number): EncodedBlock {
  const rows = new DocumentRows()
  for (const document of documents) rows.addDocument(document)
  return encodeRows(rows, 0, rows.length, firstDoc)
}
