/** A platform's words on a failure, for people: platforms answer with JSON of six shapes, plain text or a page of HTML. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { jsonOf } from '../../json/json-of.ts'
import type { OutboundAnswer } from '../../ports/outbound-http.ts'
import { at, listAt, textAt } from './json-at.ts'
import { cleanText, cutText } from './rendering/cut-text.ts'

const MAX_CHARACTERS = 300
/** A title stands near the beginning of a page. */
const MAX_HEAD_CHARACTERS = 4_096

/** One line, cut; the empty text when the platform says nothing. */
export function answerText({ text }: Pick<OutboundAnswer, 'text'>): string {
  const json = jsonOf(text)
  const said =
    typeof json === 'object' && json !== null ? fromJson(json) : /<\/?(html|body|head|title)\b/i.test(text) ? fromHtml(text) : text
  return cutText(cleanText(said).replaceAll(/\s+/g, ' ').trim(), MAX_CHARACTERS)
}

function fromJson(json: object): string {
  const fields = at(json, 'errors')
  const byField = isJsonObject(fields)
    ? Object.entries(fields).map(([field, problem]) => `${field}: ${typeof problem === 'string' ? problem : JSON.stringify(problem)}`)
    : []
  const parts = [
    textAt(json, 'message'),
    textAt(json, 'error'),
    textAt(json, 'error', 'message'),
    textAt(json, 'error', 'detail'),
    ...listAt(json, 'errorMessages'),
    ...listAt(json, 'errors'),
    ...byField,
  ].filter((part): part is string => typeof part === 'string' && part !== '')
  return parts.length > 0 ? [...new Set(parts)].join('; ') : JSON.stringify(json)
}

function fromHtml(html: string): string {
  const title = /<title[^>]*>([^<]{1,500})/i.exec(html.slice(0, MAX_HEAD_CHARACTERS))?.[1]
  return `a page of HTML${title === undefined ? '' : ` with the title “${title.trim()}”`}`
}
