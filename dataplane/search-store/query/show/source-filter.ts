/** `_source` filtering: which members of a document a hit shows. */

import { isJsonObject } from '../../../json/is-json-object.ts'
import { type TermPattern, wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, parsingError } from '../../api-error.ts'
import { isRawNumber } from '../../json/exact-numbers.ts'
import { kindOf, readBoolean, readStrings, refuseUnknown } from '../../json/json-reader.ts'
import { Turns } from '../../turns.ts'

/** `true`: the document as stored; `false`: none of it. */
export type SourceFilter = boolean | SourcePatterns

/** Looks, of a name at a pattern, that filters may still take together. */
export interface LookBudget {
  left: number
}

interface SourcePatterns {
  readonly budget: LookBudget
  readonly includes: readonly TermPattern[]
  readonly excludes: readonly TermPattern[]
  readonly plainNames?: ReadonlySet<string>
}

/** Patterns of one filter: each member of each document shown is held against all of them. */
const MAX_SOURCE_PATTERNS = 256

/** Looks of one filter, or of those of one `_mget`, over all documents. */
const MAX_SOURCE_LOOKS = 20_000_000

/** The names of a filter that shows members by their plain names alone, none of them below another; undefined: it is more than that. */
export function plainNamesOf(filter: SourceFilter): ReadonlySet<string> | undefined {
  return typeof filter === 'boolean' ? undefined : filter.plainNames
}

export const newLookBudget = (): LookBudget => ({ left: MAX_SOURCE_LOOKS })

function patternsOf(includes: readonly string[], excludes: readonly string[], budget = newLookBudget()): SourcePatterns {
  const count = includes.length + excludes.length
  if (count > MAX_SOURCE_PATTERNS)
    throw illegalArgument(`[_source] may name at most ${MAX_SOURCE_PATTERNS} fields or patterns, found ${count}`)
  const isPlain = includes.length > 0 && excludes.length === 0 && includes.every(name => !/[*?\\.]/.test(name))
  return { includes: compile(includes), excludes: compile(excludes), budget, ...(isPlain && { plainNames: new Set(includes) }) }
}

/** Plain names, the usual case, are one pattern: a look-up. */
function compile(names: readonly string[]): readonly TermPattern[] {
  const isPlain = (name: string) => !/[*?\\]/.test(name)
  const plain = new Set(names.filter(isPlain))
  const patterns = names.filter(name => !isPlain(name)).map(name => wildcardPattern(name))
  return plain.size === 0 ? patterns : [{ prefix: '', literal: '', test: name => plain.has(name) }, ...patterns]
}

export function parseSourceFilter(value: unknown, budget?: LookBudget): SourceFilter {
  if (value === undefined) return true
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' || Array.isArray(value)) return patternsOf(readStrings(value, '_source'), [], budget)
  if (!isJsonObject(value)) throw parsingError(`[_source] must be a boolean, string, array or object, found ${kindOf(value)}`)
  refuseUnknown(value, '_source', ['includes', 'include', 'excludes', 'exclude'])
  const list = (key: string, short: string): readonly string[] =>
    value[key] === undefined && value[short] === undefined ? [] : readStrings(value[key] ?? value[short], `_source.${key}`)
  return patternsOf(list('includes', 'include'), list('excludes', 'exclude'), budget)
}

/** The parameters `_source`, `_source_includes`, `_source_excludes` of the query string; undefined when none is given. */
export function sourceFilterOfParameters(parameters: URLSearchParams): SourceFilter | undefined {
  const split = (name: string): readonly string[] => (parameters.get(name) ?? '').split(',').filter(part => part !== '')
  const source = parameters.get('_source')
  if (source === 'true' || source === 'false' || source === '') {
    if (!readBoolean(source, '_source')) return false
  }
  const includes = [...split('_source_includes'), ...(source === null || source === 'true' || source === '' ? [] : split('_source'))]
  const excludes = split('_source_excludes')
  if (includes.length + excludes.length > 0) return patternsOf(includes, excludes)
  return source === null ? undefined : true
}

export function applySourceFilter(source: unknown, patterns: SourcePatterns): unknown {
  const work = filtered(source, '', patterns.includes.length === 0, patterns)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** The same while others run. */
export async function applySourceFilterInTurns(source: unknown, patterns: SourcePatterns): Promise<unknown> {
  const turns = new Turns()
  const work = filtered(source, '', patterns.includes.length === 0, patterns)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (turns.isDue()) await turns.next()
  }
}

/** Members of one object that are looked at before others may run. */
const MEMBERS_AT_A_TIME = 16

/** Undefined: nothing of it is shown. */
function* filtered(value: unknown, path: string, isIncluded: boolean, patterns: SourcePatterns): Generator<void, unknown, undefined> {
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const each of value) {
      const item = isNested(each) ? yield* filtered(each, path, isIncluded, patterns) : isIncluded ? each : undefined
      if (item !== undefined && !isEmptied(item, each)) items.push(item)
    }
    return items.length > 0 || isIncluded ? items : undefined
  }
  if (!isJsonObject(value) || isRawNumber(value)) return isIncluded ? value : undefined
  const members: [string, unknown][] = []
  let looked = 0
  for (const [key, member] of Object.entries(value)) {
    if (++looked % MEMBERS_AT_A_TIME === 0) yield
    const inner = path === '' ? key : `${path}.${key}`
    const names = pathsOf(inner, path)
    spend(patterns, names.length)
    if (names.some(name => isNamed(patterns.excludes, name))) continue
    const isWanted = isIncluded || names.some(name => isNamed(patterns.includes, name))
    const kept = isNested(member) ? yield* filtered(member, inner, isWanted, patterns) : isWanted ? member : undefined
    if (kept !== undefined) members.push([key, kept])
  }
  return members.length > 0 || isIncluded || path === '' ? Object.fromEntries(members) : undefined
}

/** Throws 400 when the filter has taken too many looks. */
function spend({ includes, excludes, budget }: SourcePatterns, names: number): void {
  budget.left -= names * (includes.length + excludes.length)
  if (budget.left < 0)
    throw illegalArgument(`[_source] is held against more names than it may: ask for fewer documents, or name fewer fields or patterns`)
}

/** An object in a list of which nothing is left goes. */
const isEmptied = (left: unknown, value: unknown): boolean =>
  isJsonObject(left) && !isRawNumber(left) && Object.keys(left).length === 0 && Object.keys(value as object).length > 0

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null && !isRawNumber(value)
const isNamed = (patterns: readonly TermPattern[], path: string): boolean => patterns.some(pattern => pattern.test(path))

/** A key with dots stands for its path: `user.id` is also below `user`. */
function pathsOf(path: string, parent: string): readonly string[] {
  const paths: string[] = []
  for (let dot = path.indexOf('.', parent.length + 1); dot >= 0; dot = path.indexOf('.', dot + 1)) paths.push(path.slice(0, dot))
  paths.push(path)
  return paths
}
