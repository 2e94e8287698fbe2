/** Replies as text: `filter_path` and `pretty` are applied here. */
import { illegalArgument } from '../api-error.ts'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'
import type { Reply } from './reply.ts'

export interface Rendered {
  readonly contentType: string
  /** Undefined: no body. */
  readonly text: string | undefined
}

/** JSON of more than `maxShapedLength` characters is not read again: `pretty` has no effect on it, and `filter_path` throws 400. */
export function render(reply: Reply, parameters: URLSearchParams, maxShapedLength: number): Rendered {
  if (reply.text !== undefined) return { contentType: 'text/plain; charset=UTF-8', text: reply.text }
  const contentType = 'application/json; charset=UTF-8'
  const filter = reply.isFiltered === true ? undefined : parseFilterPath(parameters.get('filter_path'))
  const isPretty = parameters.has('pretty') && parameters.get('pretty') !== 'false'
  if (filter === undefined && !isPretty)
    return { contentType, text: reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)) }
  if (reply.json !== undefined && reply.json.length > maxShapedLength) {
    if (filter === undefined) return { contentType, text: reply.json }
    throw illegalArgument(`[filter_path] is for answers of at most ${maxShapedLength} characters; ask for less`)
  }
  const value = reply.json === undefined ? reply.body : JSON.parse(reply.json)
  if (value === undefined) return { contentType, text: undefined }
  const shown = filter === undefined ? value : applyFilterPath(value, filter)
  return { contentType, text: isPretty ? `${JSON.stringify(shown, undefined, 2)}\n` : JSON.stringify(shown) }
}
