import type { BulkOperation } from '../../ports/search-store.ts'

const UPDATE_OPEN = '{"doc":'
const UPDATE_UPSERT = ',"upsert":'
/** Most bytes of a UTF-16 unit in UTF-8, and of an escaped one in JSON. */
const UTF8_BYTES = 3
const ESCAPED_BYTES = 6
/** Bytes around an id and the documents. */
const FRAME_BYTES = 64
/** Text that JSON holds without escapes. */
const PLAIN = /^[\w.-]*$/

/** The NDJSON of a `_bulk` request; the documents' bytes are copied once and never parsed. `allocate` gives at least so many bytes. */
export function buildBulkBody(operations: readonly BulkOperation[], allocate: (sizeBytes: number) => Buffer = Buffer.allocUnsafe): Buffer {
  const target = allocate(mostBytes(operations))
  let end = 0
  const add = (part: string | Uint8Array) => {
    if (typeof part === 'string') end += target.write(part, end)
    else {
      target.set(part, end)
      end += part.length
    }
  }
  let head = Buffer.alloc(0)
  let before: BulkOperation | undefined
  for (const operation of operations) {
    const { action, index, id, body, upsert } = operation
    if (action !== before?.action || index !== before.index) head = Buffer.from(`{"${action}":{"_index":${JSON.stringify(index)},"_id":`)
    before = operation
    add(head)
    end += PLAIN.test(id) ? target.write(`"${id}"}}\n`, end, 'latin1') : target.write(`${JSON.stringify(id)}}}\n`, end)
    if (action === 'update') add(UPDATE_OPEN)
    add(body)
    if (action === 'update' && upsert !== undefined) {
      add(UPDATE_UPSERT)
      add(upsert)
    }
    add(action === 'update' ? '}\n' : '\n')
  }
  return target.subarray(0, end)
}

function mostBytes(operations: readonly BulkOperation[]): number {
  let bytes = 0
  for (const { index, id, body, upsert } of operations)
    bytes += FRAME_BYTES + ESCAPED_BYTES * (index.length + id.length) + sizeOf(body) + (upsert === undefined ? 0 : sizeOf(upsert))
  return bytes
}

const sizeOf = (part: string | Uint8Array) => (typeof part === 'string' ? UTF8_BYTES * part.length : part.length)
