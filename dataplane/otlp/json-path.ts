/** Says where in a JSON text a position lies and what stands there; for error messages alone, so it may be slow. */
import { Buffer } from 'node:buffer'
import { closingQuote } from './json-lexer.ts'
import { EditList } from './layout.ts'

const SHOWN_CHARACTERS = 40

/** Path of the value at `offset`, such as `resourceLogs[0].scopeLogs[2].schemaUrl`. What stands before must be valid JSON. */
export function pathAt(b: Uint8Array, offset: number): string {
  const steps: (string | number)[] = []
  let expectName = false
  for (let p = 0; p < offset; p++) {
    const c = String.fromCharCode(b[p]!)
    if (c === '"') {
      const end = stringEnd(b, p, offset)
      if (expectName) steps[steps.length - 1] = decode(b, p, end)
      expectName = false
      p = end
    } else if (c === '{' || c === '[') {
      steps.push(c === '[' ? 0 : '')
      expectName = c === '{'
    } else if (c === '}' || c === ']') {
      steps.pop()
      expectName = false
    } else if (c === ',') {
      const last = steps.at(-1)
      expectName = typeof last === 'string'
      if (typeof last === 'number') steps[steps.length - 1] = last + 1
    }
  }
  return steps.reduce<string>((path, step) => (typeof step === 'number' ? `${path}[${step}]` : joined(path, step)), '')
}

function joined(path: string, name: string): string {
  if (name === '') return path
  return path === '' ? shortened(name) : `${path}.${shortened(name)}`
}

function stringEnd(b: Uint8Array, quote: number, limit: number): number {
  try {
    return closingQuote(b, quote + 1, new EditList())
  } catch {
    return limit // the fault lies within this string
  }
}

function decode(b: Uint8Array, quote: number, end: number): string {
  const text = Buffer.from(b.subarray(quote + 1, end)).toString('utf8')
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text // shown as it stands
  }
}

function shortened(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}

/** What stands at `offset`, in words for an error message. */
export function seenAt(b: Uint8Array, offset: number): string {
  const c = b[offset]
  if (c === undefined) return 'the end of the input'
  if (c === 0x7b) return 'an object'
  if (c === 0x5b) return 'a list'
  const text = Buffer.from(b.subarray(offset, offset + 4 * SHOWN_CHARACTERS)).toString('utf8')
  const token = /^(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)/.exec(text)?.[0] ?? Array.from(text)[0] ?? ''
  const printable = token.replace(/[\u0000-\u001f\u007f]/g, control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return shortened(printable)
}
