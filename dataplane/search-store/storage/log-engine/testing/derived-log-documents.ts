/** Log documents whose `log_id` follows from trace, span and time, as the pipeline makes it. */
import { namespaceBytes, writeUuid5 } from '../../../../hash/uuid5.ts'
import { createLogDocuments, type LogDocument } from './log-documents.ts'

const NAMESPACE = namespaceBytes('1d4fe476-9f3c-5866-8387-82041192153a')

export function createDerivedLogDocuments(seed: number, startMs: number): () => LogDocument {
  const next = createLogDocuments(seed, startMs)
  return () => {
    const { id, source } = next()
    return { id, source: withDerivedLogId(source) }
  }
}

export function withDerivedLogId(source: Uint8Array): Buffer {
  const text = Buffer.from(source).toString()
  const { trace_id = '', span_id = '', time_unix_nano } = JSON.parse(text)
  const logId = Buffer.alloc(36)
  writeUuid5(Buffer.concat([NAMESPACE, Buffer.from(`${trace_id}:${span_id}:${time_unix_nano}`)]), logId, 0)
  return Buffer.from(text.replace(/"log_id":"[^"]+"/, `"log_id":"${logId}"`))
}
