/** The assertions of the tests about an answer: `match`, `length`, `is_true` and the like. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { toExactJson } from './exact-json.ts'

export type Stash = Map<string, unknown>

/** The value at `path` in the last answer; `\.` is a dot within a name, `$x` a stashed value. */
export function valueAt(answer: unknown, path: string, stash: Stash): unknown {
  if (path === '$body') return typeof answer === 'object' ? answer : stash.get('body')
  let value = answer
  for (const part of partsOf(path)) {
    const name = fromStash(part, stash)
    if (name === '_arbitrary_key_') return typeof value === 'object' && value !== null ? Object.keys(value)[0] : undefined
    if (value === null || typeof value !== 'object') return undefined
    value = Array.isArray(value) ? value[Number(name)] : Object.hasOwn(value, String(name)) ? (value as never)[String(name)] : undefined
  }
  return value
}

const partsOf = (path: string): readonly string[] =>
  path === ''
    ? []
    : path
        .split(/(?<!\\)\./)
        .filter(part => part !== '')
        .map(part => part.replaceAll('\\.', '.'))

/** Stashed values in texts, names and lists. */
export function resolve(value: unknown, stash: Stash): unknown {
  if (typeof value === 'string') return fromStash(value, stash)
  if (Array.isArray(value)) return value.map(item => resolve(item, stash))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [String(fromStash(key, stash)), resolve(member, stash)]))
}

function fromStash(text: string, stash: Stash): unknown {
  if (/^\$\w+$/.test(text) && stash.has(text.slice(1))) return stash.get(text.slice(1))
  return text.replace(/\$\{(\w+)\}/g, (all, name: string) => (stash.has(name) ? String(stash.get(name)) : all))
}

type Judge = (seen: unknown, expected: unknown) => boolean

/** Each says whether `seen` is as `expected`. */
const JUDGES: Readonly<Record<string, Judge>> = {
  match: matches,
  length: (seen, expected) => sizeOf(seen) === Number(expected),
  gt: (seen, expected) => isNumber(seen) && seen > (expected as number),
  gte: (seen, expected) => isNumber(seen) && seen >= (expected as number),
  lt: (seen, expected) => isNumber(seen) && seen < (expected as number),
  lte: (seen, expected) => isNumber(seen) && seen <= (expected as number),
  contains: (seen, expected) =>
    Array.isArray(seen) &&
    seen.some(item => matches(item, expected) || Object.entries(expected as object).every(([key, value]) => matches(item?.[key], value))),
  is_true: seen => !isFalse(seen),
  is_false: seen => isFalse(seen),
}

const isNumber = (value: unknown): value is number => typeof value === 'number' || typeof value === 'bigint'

const isFalse = (value: unknown): boolean =>
  value === undefined || value === null || ['', 'false', '0'].includes(typeof value === 'object' ? 'object' : String(value))

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value)
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length
      : -1

function matches(seen: unknown, expected: unknown): boolean {
  if (typeof expected === 'string' && /^\s*\/.*\/\s*$/s.test(expected))
    return seen !== undefined && patternOf(expected).test(typeof seen === 'string' ? seen : toExactJson(seen))
  if (isNumber(seen) && isNumber(expected))
    return typeof seen === 'bigint' && typeof expected === 'bigint' ? seen === expected : Number(seen) === Number(expected)
  if (Array.isArray(seen) && Array.isArray(expected))
    return seen.length === expected.length && expected.every((item, at) => matches(seen[at], item))
  if (isJsonObject(seen) && isJsonObject(expected)) {
    const keys = Object.keys(expected)
    return keys.length === Object.keys(seen).length && keys.every(key => Object.hasOwn(seen, key) && matches(seen[key], expected[key]))
  }
  return (seen ?? null) === expected
}

/** Java's patterns with blanks and comments, as JavaScript has them. */
function patternOf(text: string): RegExp {
  const source = text.trim().slice(1, -1)
  let pattern = ''
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!
    if (char === '\\') pattern += char + (source[++at] ?? '')
    else if (char === '#') at = source.indexOf('\n', at) < 0 ? source.length : source.indexOf('\n', at)
    else if (!/\s/.test(char)) pattern += char
  }
  return new RegExp(pattern.replace(/\$$/, '\\n?$').replaceAll('++', '+').replaceAll('*+', '*'))
}

/** Undefined where the step holds, else what was seen. Undefined steps are no assertions: `isAssertion`. */
export function judge(kind: string, content: unknown, answer: unknown, stash: Stash): string | undefined {
  const [path, expected] = typeof content === 'object' && content !== null ? Object.entries(content)[0]! : [String(content), undefined]
  const seen = valueAt(answer, path, stash)
  const wanted = resolve(expected, stash)
  if (JUDGES[kind]!(seen, wanted)) return undefined
  return `${kind} ${path}: expected ${short(wanted)}, got ${short(seen)}`
}

export const isAssertion = (kind: string): boolean => Object.hasOwn(JUDGES, kind)

const short = (value: unknown): string => (value === undefined ? 'nothing' : toExactJson(value).slice(0, 300))
