/** Numbers the log statements of one service: patterns that begin with the same words are one (Decisions 6). */
import { levelInText } from '../../root-cause/observed/level-in-text.ts'
import { statementWords } from '../../root-cause/observed/template.ts'

/** Statements told apart; further ones count for the service as a whole alone. */
export const MAX_STATEMENTS = 64
/** The number of what is not told apart. */
export const OTHER = MAX_STATEMENTS

/** Patterns whose statement is known at once; a power of two. */
const CACHED = 128

const LEVELS = [undefined, 'debug', 'warning', 'error'] as const

export class Statements {
  readonly #numbers = new Map<string, number>()
  readonly #patterns = new Int32Array(CACHED)
  readonly #cached = new Uint8Array(CACHED)
  readonly #told = new Uint8Array(CACHED)
  /** The pattern that was looked up last says by its words that it is an error, at any level. */
  saysError = false
  /** The same for a warning. */
  saysWarning = false

  /** `pattern` as in `SignalFields`: its first words are looked at where its hash is not known. */
  numberOf(patternHash: number, pattern: string): number {
    const at = patternHash & (CACHED - 1)
    if (this.#patterns[at] === patternHash && patternHash !== 0) {
      this.#tell(this.#told[at]!)
      return this.#cached[at]!
    }
    const text = asWritten(pattern)
    const words = statementWords(text)
    const told = LEVELS.indexOf(levelInText(text))
    this.#tell(told)
    let number = this.#numbers.get(words)
    if (number === undefined) {
      number = Math.min(this.#numbers.size, OTHER)
      if (number < OTHER) this.#numbers.set(words, number)
    }
    this.#patterns[at] = patternHash
    this.#cached[at] = number
    this.#told[at] = told
    return number
  }

  #tell(told: number): void {
    this.saysError = LEVELS[told] === 'error'
    this.saysWarning = LEVELS[told] === 'warning'
  }

  wordsOf(number: number): string {
    for (const [words, each] of this.#numbers) if (each === number) return Buffer.from(words, 'latin1').toString()
    return ''
  }
}

/** A pattern with its tabs, line ends, quotes and terminal codes, which JSON escapes: levels and heads of lines are told by them. */
function asWritten(pattern: string): string {
  if (!pattern.includes('\\')) return pattern
  try {
    return JSON.parse(`"${pattern}"`) as string
  } catch {
    return pattern
  }
}
