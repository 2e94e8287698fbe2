import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument } from '../../api-error.ts'

/** Patterns with `*` or `?` that one request may name: each is tried on every name. */
const MAX_PATTERNS = 100

/** Whether a name is one of those named, `_all` standing for all. Throws 400 for too many patterns. */
export function createNameMatcher(names: readonly string[]): (name: string) => boolean {
  const plain = new Set(names)
  if (plain.has('_all') || plain.has('*')) return () => true
  const patterns = [...plain].filter(name => /[*?\\]/.test(name))
  if (patterns.length > MAX_PATTERNS) throw illegalArgument(`at most ${MAX_PATTERNS} patterns may be asked for, found ${patterns.length}`)
  const tests = patterns.map(pattern => wildcardPattern(pattern))
  return name => plain.has(name) || tests.some(test => test.test(name))
}
