/** Tests on single terms: prefixes, wildcards, ranges of text. All take time linear in the term, times the pattern's length at worst. */

export interface TermPattern {
  /** Every term that fits starts with this. */
  readonly prefix: string
  /** Every term that fits holds this, but for the case of its letters. */
  readonly literal: string
  test(term: string): boolean
}

export function prefixPattern(prefix: string, caseInsensitive: boolean): TermPattern {
  if (!caseInsensitive) return { prefix, literal: prefix, test: term => term.startsWith(prefix) }
  const lower = prefix.toLowerCase()
  return { prefix: '', literal: lower, test: term => term.toLowerCase().startsWith(lower) }
}

export function equalIgnoringCase(values: readonly string[]): TermPattern {
  const lower = new Set(values.map(value => value.toLowerCase()))
  return { prefix: '', literal: '', test: term => lower.has(term.toLowerCase()) }
}

type Step = { readonly kind: 'char'; readonly char: string } | { readonly kind: 'one' } | { readonly kind: 'many' }

/** `*` any run of characters, `?` one, a backslash takes the next one literally. */
function stepsOf(pattern: string): readonly Step[] {
  const steps: Step[] = []
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    if (char === '\\' && at + 1 < chars.length) steps.push({ kind: 'char', char: chars[++at]! })
    else if (char === '?') steps.push({ kind: 'one' })
    else if (char !== '*') steps.push({ kind: 'char', char })
    else if (steps.at(-1)?.kind !== 'many') steps.push({ kind: 'many' })
  }
  return steps
}

export function wildcardPattern(pattern: string, caseInsensitive: boolean): TermPattern {
  const steps = stepsOf(caseInsensitive ? pattern.toLowerCase() : pattern)
  let prefix = ''
  for (const step of steps) {
    if (step.kind !== 'char') break
    prefix += step.char
  }
  return {
    prefix: caseInsensitive ? '' : prefix,
    literal: longestLiteral(steps),
    test: term => matchesSteps(steps, [...(caseInsensitive ? term.toLowerCase() : term)]),
  }
}

function longestLiteral(steps: readonly Step[]): string {
  let longest = ''
  let current = ''
  for (const step of steps) {
    current = step.kind === 'char' ? current + step.char : ''
    if (current.length > longest.length) longest = current
  }
  return longest
}

/** Greedy, going back to the last `*` alone: never exponential. */
function matchesSteps(steps: readonly Step[], chars: readonly string[]): boolean {
  let step = 0
  let char = 0
  let lastMany = -1
  let resumeAt = 0
  while (char < chars.length) {
    const current = steps[step]
    if (current?.kind === 'one' || (current?.kind === 'char' && current.char === chars[char])) {
      step++
      char++
    } else if (current?.kind === 'many') {
      lastMany = step++
      resumeAt = char
    } else if (lastMany >= 0) {
      step = lastMany + 1
      char = ++resumeAt
    } else return false
  }
  while (steps[step]?.kind === 'many') step++
  return step === steps.length
}

export interface TextBounds {
  readonly min: string | undefined
  readonly max: string | undefined
  readonly includeMin: boolean
  readonly includeMax: boolean
}

/** Terms between two others, in the order of their UTF-16 units. */
export function textRangePattern(bounds: TextBounds): TermPattern {
  const { min, max, includeMin, includeMax } = bounds
  return {
    prefix: '',
    literal: '',
    test: term => {
      if (min !== undefined && !(includeMin ? term >= min : term > min)) return false
      return max === undefined || (includeMax ? term <= max : term < max)
    },
  }
}
