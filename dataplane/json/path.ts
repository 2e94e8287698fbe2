/** Says where in a JSON text a position lies and what stands there; for error messages alone, so it may be slow. */
import { Buffer } from 'node:buffer'
import { shortened } from '../text/shortened.ts'
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, NOWHERE, OPEN_LIST, OPEN_OBJECT, QUOTE, stringEnd, textBetween } from './bytes.ts'

const SHOWN_CHARACTERS = 40
const SHOWN_START_OF_PATH = 120
const SHOWN_END_OF_PATH = 80
const BYTE_ORDER_MARK = '\ufeff'
/** A name of more bytes is cut anyway. */
const MAX_NAME_BYTES = 6 * SHOWN_CHARACTERS + 6

/** An element of a list by its index, a member by where its name stands. */
interface Step {
  readonly isList: boolean
  index: number
  nameStart: number
  nameEnd: number
}

/** Path of the value at `offset`, such as `resourceLogs[0].scopeLogs[2].schemaUrl`; of a long one its ends. What stands before must be valid JSON. */
export function pathAt(b: Uint8Array, offset: number): string {
  const path = wholePathAt(b, offset)
  if (path.length <= SHOWN_START_OF_PATH + SHOWN_END_OF_PATH) return path
  return `${shortened(path, SHOWN_START_OF_PATH)}${path.slice(-SHOWN_END_OF_PATH).toWellFormed()}`
}

function wholePathAt(b: Uint8Array, offset: number): string {
  const steps: Step[] = []
  let last: Step | undefined
  let expectName = false
  for (let p = 0; p < offset; p++) {
    const c = b[p]
    if (c === QUOTE) {
      const behind = stringEnd(b, p, offset)
      const end = behind === NOWHERE ? offset : behind - 1
      if (expectName && last !== undefined) {
        last.nameStart = p + 1
        last.nameEnd = end
      }
      expectName = false
      p = end
    } else if (c === COMMA) {
      expectName = last?.isList === false
      if (last !== undefined) last.index++
    } else if (c === OPEN_OBJECT || c === OPEN_LIST) {
      last = { isList: c === OPEN_LIST, index: 0, nameStart: 0, nameEnd: 0 }
      steps.push(last)
      expectName = c === OPEN_OBJECT
    } else if (c === CLOSE_OBJECT || c === CLOSE_LIST) {
      steps.pop()
      last = steps.at(-1)
      expectName = false
    }
  }
  return steps.reduce(
    (path, { isList, index, nameStart, nameEnd }) => (isList ? `${path}[${index}]` : joined(path, decode(b, nameStart, nameEnd))),
    '',
  )
}

function joined(path: string, name: string): string {
  if (name === '') return path
  return path === '' ? shortened(name, SHOWN_CHARACTERS) : `${path}.${shortened(name, SHOWN_CHARACTERS)}`
}

function decode(b: Uint8Array, start: number, end: number): string {
  const text = textBetween(b, start, Math.min(end, start + MAX_NAME_BYTES))
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text // shown as it stands
  }
}

/** The value at `offset`, in words for an error message. */
export function seenAt(b: Uint8Array, offset: number): string {
  const c = b[offset]
  if (c === undefined) return 'the end of the input'
  if (c === OPEN_OBJECT) return 'an object'
  if (c === OPEN_LIST) return 'a list'
  const text = Buffer.from(b.subarray(offset, offset + 4 * SHOWN_CHARACTERS)).toString('utf8')
  if (text.startsWith(BYTE_ORDER_MARK)) return 'a byte order mark'
  const token = /^(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)/.exec(text)?.[0] ?? Array.from(text)[0] ?? ''
  const printable = token.replace(/[\u0000-\u001f\u007f]/g, control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return shortened(printable, SHOWN_CHARACTERS)
}
