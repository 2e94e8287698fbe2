import { hash } from 'node:crypto'
import type { FlatAttributes } from './flatten.ts'
import { createUuid5, URL_NAMESPACE } from './uuid.ts'

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/document'))

/**
 * Id of a record's document in the search store: a UUIDv5 over tenant, `log_id` and a digest of the record's own content, so
 * that different records never overwrite each other and the same record always gives the same id (Decisions 4).
 */
export function buildDocumentId(tenant: string, logId: string, contentDigest: string): string {
  return uuid(`${tenant}:${logId}:${contentDigest}`)
}

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

/** 40 hex digits over everything that makes a record this one. */
export function contentDigest(content: RecordContent): string {
  const { resourceDigest, scopeDigest, attributes, severityText, severityNumber, message } = content
  const lengths = `${attributes.length},${severityText.length}`
  return digest(`${resourceDigest},${scopeDigest},${lengths},${severityNumber},${attributes}${severityText}${message}`)
}

/** 40 hex digits over a set of attributes, whatever their order. */
export function attributesDigest(attributes: FlatAttributes): string {
  return digest(stableAttributes(attributes))
}

/** Attributes as text in the order of their keys. */
export function stableAttributes(attributes: FlatAttributes): string {
  let text = ''
  for (const key of [...attributes.keys()].sort()) text += `${key.length}:${key}${attributes.get(key)!};`
  return text
}

function digest(text: string): string {
  return hash('sha1', text, 'hex')
}
