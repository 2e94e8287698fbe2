/** The query of the parameter `q`. */
import { illegalArgument, unsupported } from '../api-error.ts'
import { booleanParameter } from '../http/request/index-parameters.ts'
import { plainFuzziness } from '../query/parse/fuzziness.ts'
import type { Query } from '../query/parse/query.ts'
import { parseQueryString } from '../query/parse/query-string.ts'

/** Undefined without the parameter. Throws 400 where its companions are not valid. */
export function queryOfParameters(query: URLSearchParams): Query | undefined {
  const text = query.get('q')
  if (text === null) return undefined
  const operator = (query.get('default_operator') ?? 'or').toLowerCase()
  if (operator !== 'and' && operator !== 'or')
    throw illegalArgument(`Unsupported defaultOperator [${operator}], can either be [OR] or [AND]`)
  const analyzer = query.get('analyzer')
  if (analyzer !== null && analyzer !== 'standard') throw unsupported(`analyzer [${analyzer}]`)
  const field = query.get('df')
  return parseQueryString(text, {
    fields: [{ pattern: field ?? '*', boost: 1 }],
    operator,
    lenient: booleanParameter(query, 'lenient', field === null || field === '*'),
    phraseSlop: 0,
    fuzzyWith: plainFuzziness,
    boost: 1,
  })
}
