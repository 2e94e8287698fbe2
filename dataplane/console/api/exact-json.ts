/** JSON of the services. Whole numbers beyond those of JavaScript, such as ids of 64 bits, keep all their digits. */

/** Such a number. Its text has all digits, and so has the JSON that is written of it. */
export class ExactNumber {
  readonly #digits: string

  constructor(digits: string) {
    this.#digits = digits
  }

  toString(): string {
    return this.#digits
  }

  toJSON(): unknown {
    return rawJson?.(this.#digits) ?? Number(this.#digits)
  }
}

const LONG_NUMBER = /[:,[]\s*-?\d{16}/

/** Throws `SyntaxError`. */
export function parseJson(text: string): unknown {
  // Few answers hold one, and to be asked of each value takes longer.
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepNumber) : JSON.parse(text)
}

function keepNumber(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value
  return /^-?\d+$/.test(context.source) ? new ExactNumber(context.source) : value
}

/** Not in TypeScript's library yet, and not in older browsers. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON?(text: string): unknown }
