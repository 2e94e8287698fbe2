/** Reads a mail as mailers write it: folded headers, encoded words, parts in base64 or quoted-printable. Attachments are left out. */

export interface MailMessage {
  /** The first of each name; names in lower case, encoded words decoded. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string
}

/** Depth of parts within parts. */
const MAX_DEPTH = 5

export function parseMail(source: Buffer): MailMessage {
  return parsePart(source.toString('latin1'), 0)
}

function parsePart(source: string, depth: number): MailMessage {
  const end = /\r?\n\r?\n/.exec(source)
  const headers = parseHeaders(end === null ? source : source.slice(0, end.index))
  const body = end === null ? '' : source.slice(end.index + end[0].length)
  const type = headers['content-type'] ?? 'text/plain'
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1]
  if (/^multipart\//i.test(type) && boundary !== undefined && depth < MAX_DEPTH) {
    // Before the first boundary and behind the last stands nothing that is meant.
    const parts = `\n${body}`
      .split(`\n--${boundary}`)
      .slice(1)
      .filter(part => !part.startsWith('--'))
    const parsed = parts.map(part => parsePart(part.replace(/^[^\n]*\n/, ''), depth + 1))
    return { headers, text: firstOf(parsed, 'text'), html: firstOf(parsed, 'html') }
  }
  const content = decodeBody(body, headers['content-transfer-encoding'] ?? '', charsetOf(type))
  return { headers, text: /^text\/plain/i.test(type) ? content : '', html: /^text\/html/i.test(type) ? content : '' }
}

const firstOf = (parts: readonly MailMessage[], name: 'text' | 'html') => parts.map(part => part[name]).find(Boolean) ?? ''

function parseHeaders(head: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (colon > 0 && !Object.hasOwn(headers, name)) headers[name] = decodeWords(line.slice(colon + 1).trim())
  }
  return headers
}

const WORD = /=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi

function decodeWords(value: string): string {
  const joined = value.replace(/(\?=)\s+(?==\?)/g, '$1')
  // Text that mailers send without encoding it is UTF-8.
  if (!/=\?/.test(joined)) return Buffer.from(joined, 'latin1').toString('utf8')
  return joined.replace(WORD, (_, charset: string, encoding: string, text: string) =>
    decodeText(encoding.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : fromQuoted(text.replaceAll('_', ' ')), charset),
  )
}

const charsetOf = (type: string) => /charset="?([\w-]+)"?/i.exec(type)?.[1] ?? 'utf-8'

function decodeBody(body: string, encoding: string, charset: string): string {
  const bytes = /base64/i.test(encoding)
    ? Buffer.from(body, 'base64')
    : /quoted-printable/i.test(encoding)
      ? fromQuoted(body.replace(/=[ \t]*\r?\n/g, ''))
      : Buffer.from(body, 'latin1')
  return decodeText(bytes, charset).replaceAll('\r\n', '\n').trimEnd()
}

function fromQuoted(text: string): Buffer {
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  )
}

function decodeText(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}
