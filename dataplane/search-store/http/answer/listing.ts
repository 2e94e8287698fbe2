/** Answers with a member for each of many indices: put together in turns, within what one answer may hold. */
import { ApiError } from '../../api-error.ts'
import { Turns } from '../../turns.ts'
import type { Call } from '../route.ts'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'
import type { Reply } from './reply.ts'

/** Characters of one such answer. */
const MAX_LISTING_LENGTH = 32 * 1024 * 1024

export interface Listing {
  readonly status?: number
  /** Members beside those of the indices. */
  readonly head?: Readonly<Record<string, unknown>>
  /** The member that those of the indices are in; the answer itself without it. */
  readonly under?: string
  /** Name and value of each; worked out one after the other. */
  readonly members: Iterable<readonly [name: string, value: unknown]>
}

/** `filter_path` is applied to each member. Others run meanwhile. Throws 400 for an answer that is too long. */
export async function listingReply(call: Pick<Call, 'query'>, { status = 200, head = {}, under, members }: Listing): Promise<Reply> {
  const filter = parseFilterPath(call.query.get('filter_path'))
  const filtered = (value: object) => (filter === undefined ? value : applyFilterPath(value, filter))
  const turns = new Turns()
  const texts: string[] = []
  let length = 0
  for (const [name, value] of members) {
    const member = Object.fromEntries([[name, value]])
    const shown = filtered(under === undefined ? member : { [under]: member }) as Readonly<Record<string, unknown>>
    const text = JSON.stringify((under === undefined ? shown : shown[under]) ?? {}).slice(1, -1)
    if (text !== '') texts.push(text)
    length += text.length + 1
    if (length > MAX_LISTING_LENGTH) throw tooLong()
    if (turns.isDue()) await turns.next()
  }
  const list = texts.join(',')
  const before = JSON.stringify(filtered(head)).slice(1, -1)
  const parts = [before, under === undefined ? list : filter !== undefined && list === '' ? '' : `${JSON.stringify(under)}:{${list}}`]
  return { status, json: `{${parts.filter(part => part !== '').join(',')}}`, isFiltered: true }
}

export function tooLong(): ApiError {
  return new ApiError(
    400,
    'circuit_breaking_exception',
    `Data too large: the answer would be longer than ${MAX_LISTING_LENGTH} characters; ask for fewer indices, or less of each`,
    { details: { bytes_limit: MAX_LISTING_LENGTH, durability: 'PERMANENT' } },
  )
}

/** Whether the text so far is too long for one answer. */
export const isTooLong = (length: number): boolean => length > MAX_LISTING_LENGTH
