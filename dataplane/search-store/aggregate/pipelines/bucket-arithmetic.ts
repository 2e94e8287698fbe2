/** Arithmetic over the values of a bucket, in the syntax of a script: numbers, `params.name`, + - * / % and parentheses. Anything else is refused. */
import { illegalArgument, unsupported } from '../../api-error.ts'

export type Arithmetic = (params: Readonly<Record<string, number>>) => number

const MAX_LENGTH = 1_000
const TOKEN = /\s*(?:(\d+\.\d*|\.\d+|\d+)|params\.([A-Za-z_]\w*)|params\[(['"])([^'"]+)\3\]|([A-Za-z_][\w.]*)|([-+*/%()]))/y

/** Whole numbers stay so among each other, as in Java: 1 / 2 is 0. */
interface Value {
  readonly isWhole: boolean
  readonly of: Arithmetic
}

/** Throws 400. */
export function parseArithmetic(text: string, names: readonly string[]): Arithmetic {
  if (text.length > MAX_LENGTH) throw illegalArgument(`[bucket_script] may be at most ${MAX_LENGTH} characters long, found ${text.length}`)
  const source = text
    .trim()
    .replace(/^return\s+/, '')
    .replace(/;$/, '')
  return new ArithmeticParser(tokensOf(source), names, text).parse().of
}

type Token = { readonly number: number; readonly isWhole: boolean } | { readonly name: string } | { readonly sign: string }

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  const source = text.trimEnd()
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    if (match === null) throw unsupported(`[bucket_script] with anything but arithmetic, such as [${source.slice(at, at + 40)}],`)
    const [, digits, named, , quoted, word, sign] = match
    if (digits !== undefined) tokens.push({ number: Number(digits), isWhole: !digits.includes('.') })
    else if (word !== undefined) throw unsupported(`[bucket_script] with anything but arithmetic, such as [${word}],`)
    else if (sign !== undefined) tokens.push({ sign })
    else tokens.push({ name: (named ?? quoted)! })
  }
  return tokens
}

class ArithmeticParser {
  readonly #tokens: readonly Token[]
  readonly #names: readonly string[]
  readonly #text: string
  #at = 0

  constructor(tokens: readonly Token[], names: readonly string[], text: string) {
    this.#tokens = tokens
    this.#names = names
    this.#text = text
  }

  parse(): Value {
    const value = this.#sum()
    if (this.#at < this.#tokens.length) throw this.#malformed()
    return value
  }

  #malformed(): Error {
    return illegalArgument(`[bucket_script] is no arithmetic: [${this.#text}]`)
  }

  #acceptSign(signs: string): string | undefined {
    const token = this.#tokens[this.#at]
    if (token === undefined || !('sign' in token) || !signs.includes(token.sign)) return undefined
    this.#at++
    return token.sign
  }

  #sum(): Value {
    let left = this.#product()
    for (let sign = this.#acceptSign('+-'); sign !== undefined; sign = this.#acceptSign('+-')) left = joined(left, sign, this.#product())
    return left
  }

  #product(): Value {
    let left = this.#factor()
    for (let sign = this.#acceptSign('*/%'); sign !== undefined; sign = this.#acceptSign('*/%')) left = joined(left, sign, this.#factor())
    return left
  }

  #factor(): Value {
    if (this.#acceptSign('+') !== undefined) return this.#factor()
    if (this.#acceptSign('-') !== undefined) {
      const { isWhole, of } = this.#factor()
      return { isWhole, of: params => -of(params) }
    }
    if (this.#acceptSign('(') !== undefined) {
      const value = this.#sum()
      if (this.#acceptSign(')') === undefined) throw this.#malformed()
      return value
    }
    const token = this.#tokens[this.#at++]
    if (token === undefined || 'sign' in token) throw this.#malformed()
    if ('number' in token) return { isWhole: token.isWhole, of: () => token.number }
    const { name } = token
    if (!this.#names.includes(name)) throw illegalArgument(`[bucket_script] uses [params.${name}], which [buckets_path] does not name`)
    return { isWhole: false, of: params => params[name]! }
  }
}

const SIGNS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['+', (a: number, b: number) => a + b],
  ['-', (a: number, b: number) => a - b],
  ['*', (a: number, b: number) => a * b],
  ['/', (a: number, b: number) => a / b],
  ['%', (a: number, b: number) => a % b],
])

function joined(left: Value, sign: string, right: Value): Value {
  const isWhole = left.isWhole && right.isWhole
  const work = SIGNS.get(sign)!
  return {
    isWhole,
    of: params => {
      const value = work(left.of(params), right.of(params))
      if (!isWhole) return value
      if (!Number.isFinite(value)) throw illegalArgument('[bucket_script] divides a whole number by zero')
      return Math.trunc(value)
    },
  }
}
