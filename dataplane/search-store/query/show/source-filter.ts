/** `_source` filtering: which members of a document a hit shows. */

import { type TermPattern, wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, parsingError } from '../../api-error.ts'
import { isObject, kindOf, readBoolean, readStrings, refuseUnknown } from '../../json/json-reader.ts'

/** `true`: the document as stored; `false`: none of it. */
export type SourceFilter = boolean | SourcePatterns

interface SourcePatterns {
  readonly includes: readonly TermPattern[]
  readonly excludes: readonly TermPattern[]
}

/** Patterns of one filter: each member of each document shown is held against all of them. */
const MAX_SOURCE_PATTERNS = 256

function patternsOf(includes: readonly string[], excludes: readonly string[]): SourcePatterns {
  const count = includes.length + excludes.length
  if (count > MAX_SOURCE_PATTERNS)
    throw illegalArgument(`[_source] may name at most ${MAX_SOURCE_PATTERNS} fields or patterns, found ${count}`)
  const compile = (patterns: readonly string[]) => patterns.map(pattern => wildcardPattern(pattern, false))
  return { includes: compile(includes), excludes: compile(excludes) }
}

export function parseSourceFilter(value: unknown): SourceFilter {
  if (value === undefined) return true
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' || Array.isArray(value)) return patternsOf(readStrings(value, '_source'), [])
  if (!isObject(value)) throw parsingError(`[_source] must be a boolean, string, array or object, found ${kindOf(value)}`)
  refuseUnknown(value, '_source', ['includes', 'include', 'excludes', 'exclude'])
  const list = (key: string, short: string): readonly string[] =>
    value[key] === undefined && value[short] === undefined ? [] : readStrings(value[key] ?? value[short], `_source.${key}`)
  return patternsOf(list('includes', 'include'), list('excludes', 'exclude'))
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

export function applySourceFilter(source: unknown, { includes, excludes }: SourcePatterns): unknown {
  const isNamed = (patterns: readonly { test(path: string): boolean }[], path: string): boolean =>
    patterns.some(pattern => pattern.test(path))

  const visit = (value: unknown, path: string, isIncluded: boolean): unknown => {
    if (Array.isArray(value)) {
      const items = value.map(item => visit(item, path, isIncluded)).filter(item => item !== undefined)
      return items.length > 0 || isIncluded ? items : undefined
    }
    if (!isObject(value)) return isIncluded ? value : undefined
    const members: [string, unknown][] = []
    for (const [key, member] of Object.entries(value)) {
      const inner = path === '' ? key : `${path}.${key}`
      const names = pathsOf(inner, path)
      if (names.some(name => isNamed(excludes, name))) continue
      const kept = visit(member, inner, isIncluded || names.some(name => isNamed(includes, name)))
      if (kept !== undefined) members.push([key, kept])
    }
    return members.length > 0 || isIncluded || path === '' ? Object.fromEntries(members) : undefined
  }
  return visit(source, '', includes.length === 0)
}

/** A key with dots stands for its path: `user.id` is also below `user`. */
function pathsOf(path: string, parent: string): readonly string[] {
  const paths: string[] = []
  for (let dot = path.indexOf('.', parent.length + 1); dot >= 0; dot = path.indexOf('.', dot + 1)) paths.push(path.slice(0, dot))
  paths.push(path)
  return paths
}
