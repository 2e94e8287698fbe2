/** Names with date math: `<logs-{now/d}>`, `<logs-{now/M{yyyy.MM}}>`, `<logs-{now/d{yyyy.MM.dd|+02:00}}>`. */
import { ApiError, illegalArgument } from '../api-error.ts'
import { type DateFormat, parseDateFormat } from '../dates/date-format.ts'
import { type DateMathContext, parseDateMath } from '../dates/date-math.ts'
import { parseTimeZone, UTC } from '../dates/time-zone.ts'

/** A name in angle brackets; commas part names. */
const DATED = /<([^<>]*)>/g
const DATE = /(?<!\\)\{([^{}]*)(?:\{([^{}]*)\})?\}/g
const BRACE = /(?<!\\)[{}]/
const ESCAPED_BRACE = /\\([{}])/g

/** The expression with such names written out. Throws 400 for date math that is not valid. */
export function datedNames(expression: string, nowMs: number): string {
  if (!expression.includes('<')) return expression
  return expression.replace(DATED, (whole, name: string) => {
    const dated = name.replace(DATE, (_, math: string, form?: string) => dateText(math, form, nowMs))
    if (BRACE.test(dated)) throw illegalArgument(`invalid dynamic name expression [${whole}]`)
    if (dated === '') throw new ApiError(400, 'parse_exception', 'nothing captured')
    return dated.replace(ESCAPED_BRACE, '$1')
  })
}

function dateText(math: string, form: string | undefined, nowMs: number): string {
  const [pattern = 'yyyy.MM.dd', zoneName] = form?.split('|') ?? []
  const zone = zoneName === undefined ? UTC : parseTimeZone(zoneName)
  const format = parseDateFormat(pattern)
  return format.print(dateOf(math, format, { nowMs, zone }), zone)
}

/** A day that is written out has the form of the name, as OpenSearch reads it, or that of a date. */
function dateOf(math: string, format: DateFormat, context: DateMathContext): number {
  try {
    return parseDateMath(math, { ...context, format })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return parseDateMath(math, context)
  }
}
