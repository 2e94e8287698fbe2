import { hash } from 'node:crypto'
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import type { FlatAttributes } from './flatten.ts'

export const DOCUMENT_NAMESPACE = createUuid5(URL_NAMESPACE)('https://logpipeline.dev/document')

const uuid = createUuid5(DOCUMENT_NAMESPACE)

/** A record's own content, as far as its identity goes. */
export interface RecordContent {
  /** `attributesDigest` of the resource's and the scope's attributes. */
  readonly resourceDigest: string
  readonly scopeDigest: string
  /** `stableAttributes` of the record's attributes. */
  readonly attributes: string
  readonly severityText: string
  readonly severityNumber: number
  readonly message: string
}

/**
 * Id of a record's document in the search store: a UUIDv5 over tenant, `log_id` and the record's own content, so
 * that different records never overwrite each other and the same record always gives the same id (Decisions 4). The content goes
 * into the UUID's own SHA-1; a digest of it made first would cost another.
 */
export function buildDocumentId(tenant: string, logId: string, content: RecordContent): string {
  const { resourceDigest, scopeDigest, attributes, severityText, severityNumber, message } = content
  const lengths = `${attributes.length},${severityText.length}`
  return uuid(`${tenant}:${logId}:${resourceDigest},${scopeDigest},${lengths},${severityNumber},${attributes}${severityText}${message}`)
}

/** 40 hex digits over a set of attributes, the same for any order of them. */
export function attributesDigest(attributes: FlatAttributes): string {
  return hash('sha1', stableAttributes(attributes), 'hex')
}

/** Attributes as text in the order of their keys: the keys, then the values. */
export function stableAttributes(attributes: FlatAttributes): string {
  const keys = [...attributes.keys()].sort()
  return `${stableKeys(keys)}${keys.map(key => attributes.get(key)!).join(',')}`
}

/** The part of `stableAttributes` before the values, which are joined by commas. */
export function stableKeys(sortedKeys: readonly string[]): string {
  return JSON.stringify(sortedKeys)
}
