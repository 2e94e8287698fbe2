import type { BulkOperation } from '../../ports/search-store.ts'

const UPDATE_OPEN = '{"doc":'
const UPDATE_UPSERT = ',"upsert":'

/** The NDJSON of a `_bulk` request; the documents' bytes are copied once and never parsed. */
export function buildBulkBody(operations: readonly BulkOperation[]): Buffer {
  const parts: (string | Uint8Array)[] = []
  for (const { action, index, id, body, upsert } of operations) {
    const line = `{"${action}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}}}\n`
    if (action !== 'update') parts.push(line, body, '\n')
    else if (upsert === undefined) parts.push(line + UPDATE_OPEN, body, '}\n')
    else parts.push(line + UPDATE_OPEN, body, UPDATE_UPSERT, upsert, '}\n')
  }
  return concat(parts)
}

/** One allocation of the exact size; the pieces are written into it. */
function concat(parts: readonly (string | Uint8Array)[]): Buffer {
  let sizeBytes = 0
  for (const part of parts) sizeBytes += typeof part === 'string' ? Buffer.byteLength(part) : part.byteLength
  const target = Buffer.allocUnsafe(sizeBytes)
  let offset = 0
  for (const part of parts) {
    if (typeof part === 'string') offset += target.write(part, offset)
    else {
      target.set(part, offset)
      offset += part.byteLength
    }
  }
  return target
}
