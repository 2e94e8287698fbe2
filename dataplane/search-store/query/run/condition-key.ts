/** Names conditions, so that what was worked out for one is found again for the next that is equal. */
import { createHash } from 'node:crypto'
import { type Condition, type ExactRange, type NumberRange, TIMESTAMP } from '../bind/condition.ts'
import type { Field } from '../bind/field.ts'

/** Longer names, and longer texts in them, are hashed, characters. */
const MAX_PLAIN = 200

/** A text as it stands in a name: where it is long, a list of its hash, which equals no text. */
type Named = string | readonly [hash: string]

/** The long text that was hashed last: one text is asked of many fields in a row. */
let lastHashed: { readonly text: string; readonly named: Named } | undefined

const knownWords = new WeakMap<readonly string[], Named>()
const known = new WeakMap<Condition, string | undefined>()

/**
 * Equal for conditions of one index that the same documents fulfil; their scores may differ. Undefined for those that hardly come again: with
 * bounds on the time of records, which move on, and with patterns that do not tell how they were written.
 */
export function conditionKey(condition: Condition): string | undefined {
  if (known.has(condition)) return known.get(condition)
  const plain = plainKey(condition)
  const key = plain === undefined || plain.length <= MAX_PLAIN ? plain : hashOf(plain)
  known.set(condition, key)
  return key
}

function plainKey(condition: Condition): string | undefined {
  switch (condition.op) {
    case 'all':
    case 'none':
      return condition.op
    case 'scored':
      return conditionKey(condition.of)
    case 'not':
      return joined('not', [condition.of])
    case 'and':
      return joined('and', condition.of)
    case 'or':
      return joined(`or ${condition.atLeast}`, condition.of)
    case 'terms':
      return JSON.stringify([condition.isExact ? 'exact terms' : 'terms', nameOf(condition.field), ...[...condition.terms].map(named)])
    case 'ids':
      return JSON.stringify(['ids', ...condition.ids])
    case 'phrase':
      return JSON.stringify(['phrase', nameOf(condition.field), condition.slop, condition.lastIsPrefix, wordsName(condition.words)])
    case 'exists':
      return JSON.stringify(['exists', nameOf(condition.field)])
    case 'pattern': {
      const { text } = condition.pattern
      return text === undefined ? undefined : JSON.stringify(['pattern', nameOf(condition.field), named(text)])
    }
    case 'range': {
      const { field, range, exact } = condition
      if (field.path === TIMESTAMP) return undefined
      return JSON.stringify(['range', nameOf(field), ...boundsOf(range), ...(exact === undefined ? [] : boundsOf(exact))])
    }
  }
}

const boundsOf = ({ min, max, includeMin, includeMax }: NumberRange | ExactRange) => [String(min), String(max), includeMin, includeMax]

const nameOf = ({ path, type }: Field): string => `${type} ${path}`

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

function named(text: string): Named {
  if (text.length <= MAX_PLAIN) return text
  if (lastHashed?.text !== text) lastHashed = { text, named: [hashOf(text)] }
  return lastHashed.named
}

/** The words of one phrase are the same list for all fields. */
function wordsName(words: readonly string[]): Named {
  const known = knownWords.get(words) ?? named(JSON.stringify(words))
  knownWords.set(words, known)
  return known
}

function joined(name: string, conditions: readonly Condition[]): string | undefined {
  const keys: string[] = []
  for (const condition of conditions) {
    const key = conditionKey(condition)
    if (key === undefined) return undefined
    keys.push(key)
  }
  return JSON.stringify([name, ...keys])
}
