/** The meaning of a condition: the reference that every faster way of answering must agree with. */
import { analyze } from '../../analysis/standard-analyzer.ts'
import { type Condition, inExactRange, inRange } from '../bind/condition.ts'
import { eachExact, eachNumber, eachTerm, eachText, hasValue } from '../bind/field.ts'
import { spendWork } from '../budget/work-in-hand.ts'
import { phrasePlaces } from './phrase-places.ts'

export interface DocumentView {
  readonly id: string
  /** The parsed document. */
  readonly source: unknown
  /** The same with all digits of its numbers; `source`, where nobody gives it. */
  exact?(): unknown
}

export function matches(condition: Condition, document: DocumentView): boolean {
  switch (condition.op) {
    case 'all':
      return true
    case 'none':
      return false
    case 'ids':
      return condition.ids.has(document.id)
    case 'and':
      return condition.of.every(each => matches(each, document))
    case 'or':
      return matchesSome(condition.of, condition.atLeast, document)
    case 'not':
      return !matches(condition.of, document)
    case 'scored':
      return matches(condition.of, document)
    default:
      return matchesField(condition, document)
  }
}

function matchesSome(conditions: readonly Condition[], atLeast: number, document: DocumentView): boolean {
  let left = atLeast
  for (const condition of conditions) {
    if (left <= 0) return true
    if (matches(condition, document)) left--
  }
  return left <= 0
}

type FieldCondition = Extract<Condition, { readonly field: unknown }>

function matchesField(condition: FieldCondition, document: DocumentView): boolean {
  const { field } = condition
  const { source } = document
  const exact = () => document.exact?.() ?? source
  let found = false
  switch (condition.op) {
    case 'terms': {
      const { terms } = condition
      if (condition.isExact === true) {
        eachExact(field, exact(), value => {
          found ||= terms.has(String(value))
        })
        return found
      }
      eachTerm(field, source, term => {
        found ||= terms.has(term)
      })
      return found
    }
    case 'pattern':
      eachTerm(field, source, term => {
        found ||= condition.pattern.test(term)
      })
      return found
    case 'range':
      if (condition.exact !== undefined) {
        const { exact: bounds } = condition
        eachExact(field, exact(), value => {
          found ||= inExactRange(value, bounds)
        })
        return found
      }
      eachNumber(field, source, value => {
        found ||= inRange(value, condition.range)
      })
      return found
    case 'exists':
      return hasValue(field, source)
    case 'phrase':
      eachText(field, source, text => {
        found ||= holdsPhrase(analyze(text), condition.words, condition.slop, condition.lastIsPrefix)
      })
      return found
  }
}

/** Whether the words stand in this order; `slop` is how far they may be moved, all together. */
export function holdsPhrase(tokens: readonly string[], words: readonly string[], slop: number, lastIsPrefix: boolean): boolean {
  if (slop === 0) return holdsInARow(tokens, words, lastIsPrefix)
  for (const _places of phrasePlaces(tokens, words, slop, lastIsPrefix)) return true
  return false
}

/** Linear in the tokens, also where the words repeat (Knuth, Morris, Pratt). */
function holdsInARow(tokens: readonly string[], words: readonly string[], lastIsPrefix: boolean): boolean {
  spendWork(tokens.length)
  const whole = lastIsPrefix ? words.length - 1 : words.length
  const isWhole = (next: number): boolean => !lastIsPrefix || tokens[next]?.startsWith(words[whole]!) === true
  if (whole === 0) return tokens.some((_token, at) => isWhole(at))
  const fallback = fallbackOf(words)
  let held = 0
  for (let at = 0; at < tokens.length; at++) {
    while (held > 0 && (held === whole || tokens[at] !== words[held])) held = fallback[held]!
    if (tokens[at] === words[held]) held++
    if (held === whole && isWhole(at + 1)) return true
  }
  return false
}

const fallbacks = new WeakMap<readonly string[], Uint16Array>()

/** By number of words held: how many are still held when the next one is another. */
function fallbackOf(words: readonly string[]): Uint16Array {
  const known = fallbacks.get(words)
  if (known !== undefined) return known
  const fallback = new Uint16Array(words.length + 1)
  for (let at = 1, held = 0; at < words.length; at++) {
    while (held > 0 && words[at] !== words[held]) held = fallback[held]!
    if (words[at] === words[held]) held++
    fallback[at + 1] = held
  }
  fallbacks.set(words, fallback)
  return fallback
}

/** The score every match of the condition has; undefined when matches differ. */
export function constantScore(condition: Condition): number | undefined {
  switch (condition.op) {
    case 'none':
    case 'not':
      return 0
    case 'and': {
      let sum = 0
      for (const each of condition.of) {
        const score = constantScore(each)
        if (score === undefined) return undefined
        sum += score
      }
      return sum
    }
    case 'or': {
      const scores = condition.of.map(constantScore)
      if (scores.every(score => score === 0)) return 0
      return condition.score === 'max' && condition.atLeast > 0 && scores.every(score => score === scores[0]) ? scores[0] : undefined
    }
    case 'scored': {
      if (condition.constant) return condition.factor
      const score = constantScore(condition.of)
      return score === undefined ? undefined : score * condition.factor
    }
    default:
      return 1
  }
}
