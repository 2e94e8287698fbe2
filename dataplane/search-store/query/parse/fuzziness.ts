/** The options of fuzzy words: `fuzziness`, `prefix_length`, `fuzzy_transpositions`. */
import { ApiError, illegalArgument } from '../../api-error.ts'
import { type JsonObject, optionalBoolean, readInteger } from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import type { Fuzziness } from './query.ts'

/** As in Lucene. */
const MAX_EDITS = 2

export const AUTO = 'AUTO'

/** `AUTO`: none up to 2 characters, one up to 5; `AUTO:3,6` says the same. Throws 400. */
function parseEdits(value: unknown): Fuzziness['edits'] {
  const text = textOf(value).toUpperCase()
  const auto = /^AUTO(?::(\d{1,9}),(\d{1,9}))?$/.exec(text)
  if (auto !== null) {
    const [low, high] = [Number(auto[1] ?? 3), Number(auto[2] ?? 6)]
    if (low > high || low === 0)
      throw illegalArgument('fuzziness wrongly configured, must be: lowDistance > 0, highDistance > 0 and lowDistance <= highDistance ')
    return { low, high }
  }
  const edits = Number(text)
  if (text.trim() === '' || Number.isNaN(edits) || edits < 0) throw illegalArgument(`Invalid fuzziness value: ${textOf(value)}`)
  return Math.min(MAX_EDITS, Math.floor(edits))
}

const failed = (reason: string): ApiError =>
  new ApiError(400, 'query_shard_exception', `failed to create query: ${reason}`, {
    causedBy: { type: 'illegal_argument_exception', reason },
  })

/** `names`: how the clause calls its options. The number of expansions is no bound here: every term that is near enough counts. */
export function parseFuzziness(
  content: JsonObject,
  names: { readonly prefixLength: string; readonly expansions: string; readonly transpositions: string },
  fuzziness: unknown = content['fuzziness'] ?? AUTO,
): Fuzziness {
  const number = (name: string, otherwise: number): number =>
    content[name] === undefined ? otherwise : readInteger(content[name], name, Number.MIN_SAFE_INTEGER)
  const prefixLength = number(names.prefixLength, 0)
  if (prefixLength < 0) throw failed('prefixLength cannot be negative.')
  if (number(names.expansions, 1) <= 0) throw failed('maxExpansions must be positive.')
  return { edits: parseEdits(fuzziness), prefixLength, transpositions: optionalBoolean(content, names.transpositions, true) }
}

/** The fuzziness of a query text that comes without options. */
export const plainFuzziness = (fuzziness: string | undefined): Fuzziness => ({
  edits: parseEdits(fuzziness ?? AUTO),
  prefixLength: 0,
  transpositions: true,
})
