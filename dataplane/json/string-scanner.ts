/** Strings that are written just as `JSON.stringify` writes them, so that their bytes may be copied. */
import { BACKSLASH, NOWHERE, QUOTE, ZERO } from './bytes.ts'
import { moveBytes } from './words.ts'

const PLAIN = 0
const CLOSING = 1
const ESCAPE = 2
const CONTROL = 3
/** First byte of a character beyond ASCII. */
const LEAD = 4

const CLASS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === QUOTE) return CLOSING
  if (byte === BACKSLASH) return ESCAPE
  if (byte < 0x20) return CONTROL
  return byte < 0x80 ? PLAIN : LEAD
})

/** The character that a letter behind a backslash stands for; 0: none that `JSON.stringify` would write. */
const ESCAPED = new Uint8Array(256)
for (const [letter, char] of Object.entries({ '"': '"', '\\': '\\', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
  ESCAPED[letter.charCodeAt(0)] = char.charCodeAt(0)

const LETTER_U = 117
const UNICODE_ESCAPE_LENGTH = 6
const ONE = 49

/** Finds the ends of JSON strings in valid UTF-8, and notes what was met on the way. */
export class StringScanner {
  /** Bytes more than UTF-16 code units. */
  surplus = 0
  /** Where the backslashes of escapes stand. */
  readonly escapes: Int32Array
  escapeCount = 0

  readonly #b: Uint8Array
  readonly #view: DataView

  /** For texts in `b` that are no longer together than so many bytes; three more stand behind each. */
  constructor(b: Uint8Array, maxBytes: number) {
    this.#b = b
    this.#view = new DataView(b.buffer, b.byteOffset, b.length)
    this.escapes = new Int32Array(maxBytes)
  }

  reset(): void {
    this.surplus = 0
    this.escapeCount = 0
  }

  /** At the closing quote of the string whose text starts at `from`; `NOWHERE` when `JSON.stringify` would write the string otherwise. */
  end(from: number): number {
    const b = this.#b
    let p = from
    for (;;) {
      p = this.#pastPlain(p)
      let kind = CLASS[b[p]!]!
      while (kind === PLAIN) kind = CLASS[b[++p]!]!
      if (kind === CLOSING) return p
      if (kind === LEAD) p = this.#skipCharacter(b, p)
      else if (kind === ESCAPE && escapedByte(b, p) !== NOWHERE) {
        this.escapes[this.escapeCount++] = p
        p += escapeLength(b, p)
      } else return NOWHERE
    }
  }

  /** Past plain characters, four at a time: each test of a word sets the highest bit of a byte that is none, or of one behind it. */
  #pastPlain(from: number): number {
    const view = this.#view
    let p = from
    for (; ; p += 4) {
      const word = view.getInt32(p, true)
      const control = word - 0x20202020
      const quote = (word ^ 0x22222222) - 0x01010101
      const backslash = (word ^ 0x5c5c5c5c) - 0x01010101
      if (((word | control | quote | backslash) & 0x80808080) !== 0) return p
    }
  }

  /** Writes the text of the string to `at`, without the escapes met since the last reset, and returns where it ends. Three bytes behind that are not what they were. */
  writeUnescaped(from: number, to: number, at: number): number {
    const b = this.#b
    let end = at
    let p = from
    for (let i = 0; i < this.escapeCount; i++) {
      const backslash = this.escapes[i]!
      end = this.#move(p, backslash, end)
      b[end++] = escapedByte(b, backslash)
      p = backslash + escapeLength(b, backslash)
    }
    return this.#move(p, to, end)
  }

  #move(from: number, to: number, at: number): number {
    return moveBytes(this.#b, this.#view, from, to, at)
  }

  #skipCharacter(b: Uint8Array, p: number): number {
    const lead = b[p]!
    this.surplus += lead < 0xe0 ? 1 : 2
    if (lead < 0xe0) return p + 2
    return lead < 0xf0 ? p + 3 : p + 4
  }
}

function escapeLength(b: Uint8Array, p: number): number {
  return b[p + 1] === LETTER_U ? UNICODE_ESCAPE_LENGTH : 2
}

/** The byte that the escape at `p` stands for; `NOWHERE` when `JSON.stringify` would not write it so. */
function escapedByte(b: Uint8Array, p: number): number {
  const letter = b[p + 1]!
  if (letter === LETTER_U) return escapedControl(b, p)
  return ESCAPED[letter]! || NOWHERE
}

/** The control characters from `\u0000` to `\u001f` that have no letter of their own. */
function escapedControl(b: Uint8Array, p: number): number {
  const high = b[p + 4]!
  const low = hexDigit(b[p + 5]!)
  if (b[p + 2] !== ZERO || b[p + 3] !== ZERO || (high !== ZERO && high !== ONE) || low < 0) return NOWHERE
  const control = (high - ZERO) * 16 + low
  return ESCAPED.includes(control) ? NOWHERE : control
}

/** The value of a digit or lower-case letter, as `JSON.stringify` writes hexadecimal. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : NOWHERE
}
