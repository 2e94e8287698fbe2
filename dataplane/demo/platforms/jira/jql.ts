/** The part of JQL that finds tickets by what they are marked with: conditions joined by AND, and an order. */

/** The fields of an issue, each with its values. */
export type JqlFields = Readonly<Record<string, readonly string[]>>
export type JqlTest = (fields: JqlFields) => boolean

const CONDITION = /^(\w+)\s*(?:(!=|=|~)\s*(.+)|(not\s+in|in)\s*\((.+)\))$/is
const ORDER = /\s+order\s+by\s+.+$/is

/** A text is the problem. */
export function parseJql(jql: string, known: readonly string[]): JqlTest | string {
  const conditions = splitOutsideQuotes(jql.replace(ORDER, ''), /\s+and\s+/iy)
  if (conditions.join('').trim() === '') return 'Unbounded JQL queries are not allowed here. Please add a search restriction to your query.'
  const tests: JqlTest[] = []
  for (const condition of conditions) {
    const match = CONDITION.exec(condition.trim().replace(/^\((.*)\)$/s, '$1'))
    if (match === null) return `Error in the JQL Query: ${condition.trim()}`
    const [, name = '', operator = match[4]!, value = match[5]!] = match
    const field = known.find(each => each.toLowerCase() === name.toLowerCase())
    if (field === undefined) return `Field '${name}' does not exist or you do not have permission to view it.`
    const wanted = (match[2] === undefined ? splitOutsideQuotes(value, /,/y) : [value]).map(text => unquote(text.trim()).toLowerCase())
    const isNegative = /^(!=|not)/i.test(operator)
    const fits = operator === '~' ? (have: string) => wanted.some(text => have.includes(text)) : (have: string) => wanted.includes(have)
    tests.push(fields => (fields[field] ?? []).some(have => fits(have.toLowerCase())) !== isNegative)
  }
  return fields => tests.every(test => test(fields))
}

function splitOutsideQuotes(text: string, separator: RegExp): readonly string[] {
  const parts: string[] = []
  let start = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (quote !== '') {
      if (letter === '\\') at += 1
      else if (letter === quote) quote = ''
      continue
    }
    if (letter === '"' || letter === "'") quote = letter
    separator.lastIndex = at
    const length = separator.exec(text)?.[0].length
    if (length === undefined) continue
    parts.push(text.slice(start, at))
    start = at + length
    at = start - 1
  }
  return [...parts, text.slice(start)]
}

const unquote = (text: string) => (/^(["']).*\1$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, '$1') : text)
