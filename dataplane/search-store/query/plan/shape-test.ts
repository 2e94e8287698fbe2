/** Tests shapes of texts: what a phrase or a pattern finds in one, it finds in all texts of the shape. */
import type { TermPattern } from '../../analysis/term-pattern.ts'
import type { TextShapes } from '../../storage/index-storage.ts'
import type { Condition } from '../bind/condition.ts'
import { holdsPhrase } from '../run/matches.ts'
import type { Verdict } from './raw-verdict.ts'

type Phrase = Extract<Condition, { op: 'phrase' }>

/** For a shape and what its segment knows of numbered words. */
export type ShapeTest = (shape: string, known: Pick<TextShapes, 'mayStart'>) => Verdict

/** A shape has this for each word with digits or underscores. */
const NUMBERED = '0'
const isNumbered = (word: string): boolean => /[0-9_]/.test(word)

/** Shapes whose verdicts are remembered while one condition goes over the segments, which have most shapes in common. */
const MAX_REMEMBERED = 8_192

const tests = new WeakMap<Condition, ShapeTest>()

/** Undefined where shapes cannot tell. */
export function shapeTest(condition: Phrase | Extract<Condition, { op: 'pattern' }>): ShapeTest | undefined {
  const known = tests.get(condition)
  if (known !== undefined) return known
  if (condition.op === 'phrase' && condition.words.length === 0) return undefined
  const test = condition.op === 'phrase' ? phraseTest(condition) : patternTest(condition.pattern)
  tests.set(condition, test)
  return test
}

/** `numbered`: a numbered word of the text decides, which has to begin with `prefix`. */
function withNumbered(prefix: string, verdictOf: (words: readonly string[]) => 'yes' | 'no' | 'numbered'): ShapeTest {
  const remembered = new Map<string, ReturnType<typeof verdictOf>>()
  return (shape, { mayStart }) => {
    let verdict = remembered.get(shape)
    if (verdict === undefined) {
      verdict = verdictOf(shape === '' ? [] : shape.split(' '))
      if (remembered.size < MAX_REMEMBERED) remembered.set(shape, verdict)
    }
    if (verdict !== 'numbered') return verdict
    return mayStart(prefix) ? 'unsure' : 'no'
  }
}

function patternTest(pattern: TermPattern): ShapeTest {
  return withNumbered(pattern.prefix, words => {
    if (words.some(word => word !== NUMBERED && pattern.test(word))) return 'yes'
    return words.includes(NUMBERED) ? 'numbered' : 'no'
  })
}

function phraseTest({ words, slop, lastIsPrefix }: Phrase): ShapeTest {
  const shape = words.map(word => (isNumbered(word) ? NUMBERED : word))
  const last = shape.at(-1)!
  /** A numbered word may begin as the unfinished last one does. */
  const numberedLast = lastIsPrefix && last !== NUMBERED ? [...shape.slice(0, -1), NUMBERED] : undefined
  const numbered = words.filter(isNumbered)
  const prefix = numberedLast !== undefined && numbered.length === 0 ? last : (numbered[0] ?? '')
  return withNumbered(prefix, tokens => {
    if (holdsPhrase(tokens, shape, slop, lastIsPrefix)) return numbered.length === 0 ? 'yes' : 'numbered'
    return numberedLast !== undefined && holdsPhrase(tokens, numberedLast, slop, true) ? 'numbered' : 'no'
  })
}
