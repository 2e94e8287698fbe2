import type { BulkOperation } from '../../ports/search-store.ts'

const LINE_BREAK = Buffer.from('\n')
const UPDATE_OPEN = Buffer.from('{"doc":')
const UPDATE_UPSERT = Buffer.from(',"upsert":')
const UPDATE_CLOSE = Buffer.from('}\n')

/** The NDJSON of a `_bulk` request; the documents' bytes are copied once and never parsed. */
export function buildBulkBody(operations: readonly BulkOperation[]): Buffer {
  const parts: Uint8Array[] = []
  for (const { action, index, id, body, upsert } of operations) {
    parts.push(Buffer.from(`{"${action}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}}}\n`))
    if (action === 'update') {
      parts.push(UPDATE_OPEN, bytesOf(body))
      if (upsert !== undefined) parts.push(UPDATE_UPSERT, bytesOf(upsert))
      parts.push(UPDATE_CLOSE)
    } else parts.push(bytesOf(body), LINE_BREAK)
  }
  return Buffer.concat(parts)
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text
}
