/** Names with date math: `<logs-{now/d}>`, `<logs-{now/M{yyyy.MM}}>`, `<logs-{now/d{yyyy.MM.dd|+02:00}}>`. */
import { illegalArgument } from '../api-error.ts'
import { parseDateFormat } from '../dates/date-format.ts'
import { parseDateMath } from '../dates/date-math.ts'
import { parseTimeZone, UTC } from '../dates/time-zone.ts'

/** A name in angle brackets; commas part names. */
const DATED = /<([^<>]*)>/g
const DATE = /\{([^{}]*)(?:\{([^{}]*)\})?\}/g

/** The expression with such names written out. Throws 400 for date math that is not valid. */
export function datedNames(expression: string, nowMs: number): string {
  if (!expression.includes('<')) return expression
  return expression.replace(DATED, (whole, name: string) => {
    const dated = name.replace(DATE, (_, math: string, form?: string) => dateText(math, form, nowMs))
    if (/[{}]/.test(dated)) throw illegalArgument(`invalid dynamic name expression [${whole}]`)
    return dated
  })
}

function dateText(math: string, form: string | undefined, nowMs: number): string {
  const [pattern = 'yyyy.MM.dd', zoneName] = form?.split('|') ?? []
  const zone = zoneName === undefined ? UTC : parseTimeZone(zoneName)
  return parseDateFormat(pattern).print(parseDateMath(math, { nowMs, zone }), zone)
}
