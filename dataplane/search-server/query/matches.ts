/** What a condition means: the reference that every faster way of answering must agree with. */
import { analyze } from '../analysis/standard-analyzer.ts'
import { type Condition, inRange } from './condition.ts'
import { eachNumber, eachTerm, eachText, hasValue } from './field.ts'
import { phrasePlaces } from './phrase-places.ts'

export interface DocumentView {
  readonly id: string
  /** The parsed document. */
  readonly source: unknown
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
      return matchesField(condition, document.source)
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

function matchesField(condition: FieldCondition, source: unknown): boolean {
  const { field } = condition
  let found = false
  switch (condition.op) {
    case 'terms': {
      const { terms } = condition
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
  if (slop === 0 && !lastIsPrefix) {
    for (let start = 0; start + words.length <= tokens.length; start++)
      if (words.every((word, at) => tokens[start + at] === word)) return true
    return false
  }
  for (const _places of phrasePlaces(tokens, words, slop, lastIsPrefix)) return true
  return false
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
