/** Replies as text: `filter_path` and `pretty` are applied here. */
import { ApiError } from '../../api-error.ts'
import { parseExact } from '../../json/exact-numbers.ts'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'
import type { Reply } from './reply.ts'

export interface Rendered {
  readonly contentType: string
  /** Undefined: no body. */
  readonly text: string | undefined
}

export const JSON_TYPE = 'application/json; charset=UTF-8'

/** Throws 400 for JSON of more than `maxLength` characters that is to be filtered or laid out. */
export function render(reply: Reply, parameters: URLSearchParams, maxLength: number): Rendered {
  if (reply.text !== undefined) return { contentType: 'text/plain; charset=UTF-8', text: reply.text }
  const contentType = JSON_TYPE
  const filter = reply.isFiltered === true ? undefined : parseFilterPath(parameters.get('filter_path'))
  const isPretty = parameters.has('pretty') && parameters.get('pretty') !== 'false'
  if (filter === undefined && !isPretty)
    return { contentType, text: reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)) }
  if (reply.json !== undefined && reply.json.length > maxLength) {
    // A write that was done is not refused because of its layout.
    if (reply.isFiltered === true) return { contentType, text: reply.json }
    throw new ApiError(
      400,
      'circuit_breaking_exception',
      `an answer of ${reply.json.length} characters is too large to be filtered or laid out; ask for less, or without [filter_path] and [pretty]`,
    )
  }
  const value = reply.json === undefined ? reply.body : parseExact(reply.json)
  if (value === undefined) return { contentType, text: undefined }
  const shown = filter === undefined ? value : applyFilterPath(value, filter)
  return { contentType, text: isPretty ? `${JSON.stringify(shown, undefined, 2)}\n` : JSON.stringify(shown) }
}
