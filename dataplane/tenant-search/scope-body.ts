/** A search of a tenant as it goes to the store: the tenant's filter stands around the query of the caller, which cannot undo it (Decisions 7). */

import { HttpError } from '../http/http-error.ts'
import { isDeeperThan, MAX_SEARCH_BODY_DEPTH } from '../json/depth.ts'
import { isJsonObject } from '../json/is-json-object.ts'
import { checkCountBody, checkSearchBody } from './check-body.ts'
import type { IndexKind } from './index-expression.ts'

export type SearchOperation = '_search' | '_count'

/** The body is written anew, so that a member given twice is one for the check and for the store. Throws `HttpError` 400 or 403. */
export function scopeBody(operation: SearchOperation, sent: Uint8Array, { kind, tenant }: { kind: IndexKind; tenant: string }): Buffer {
  const body = parseBody(sent)
  if (operation === '_count') checkCountBody(body)
  else checkSearchBody(body)
  if (kind === 'own') return Buffer.from(JSON.stringify(body))
  const { query, ...rest } = body
  const must = query === undefined ? {} : { must: [query] }
  return Buffer.from(JSON.stringify({ ...rest, query: { bool: { filter: [{ term: { tenant_id: tenant } }], ...must } } }))
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseBody(sent: Uint8Array): Readonly<Record<string, unknown>> {
  if (sent.length === 0) return {}
  if (isDeeperThan(sent, MAX_SEARCH_BODY_DEPTH)) throw new HttpError(400, 'body: nested too deeply')
  let body: unknown
  try {
    body = JSON.parse(decoder.decode(sent), keepNumber)
  } catch (cause) {
    throw new HttpError(400, 'body: expected JSON in UTF-8', {}, { cause })
  }
  if (!isJsonObject(body)) throw new HttpError(400, 'body: expected a JSON object')
  return body
}

/** Integers beyond those of JavaScript stay as they are written. `Number` of what stands for one is the number. */
function keepNumber(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value
  return /^-?\d+$/.test(context.source) ? rawJson(context.source) : value
}

/** Not in TypeScript's library yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }
