import type { MinimumShouldMatch } from '../parse/query.ts'

/** As a 32-bit float, in which OpenSearch reckons. */
const HUNDREDTH = Math.fround(0.01)

/** How many of `count` optional clauses must hold: `2`, `-1`, `75%`, `-25%`, `3<90%`. */
export function resolveMinimumShouldMatch(spec: MinimumShouldMatch, count: number): number {
  if (typeof spec === 'string' && spec.includes('<')) return resolveConditional(spec, count)
  const text = String(spec).trim()
  const isPercent = text.endsWith('%')
  const number = Number(isPercent ? text.slice(0, -1) : text)
  const amount = isPercent ? Math.trunc(Math.fround(count * number * HUNDREDTH)) : number
  return Math.max(0, number < 0 ? count + amount : amount)
}

/** `2<75%`: up to 2 clauses all are required, above the rule after `<` holds; the last rule whose bound is exceeded wins. */
function resolveConditional(spec: string, count: number): number {
  let result = count
  for (const rule of spec.trim().split(/\s+/)) {
    const [bound, then] = rule.split('<') as [string, string]
    if (count <= Number(bound)) return result
    result = resolveMinimumShouldMatch(then, count)
  }
  return result
}
