/** A ticket as an Atlassian document. Text nodes hold text as it is: nothing in them is markup, and none may be empty. */
import { codePoints, cutText } from './cut-text.ts'
import type { Block, Span, TicketDocument } from './ticket-document.ts'

export interface AdfNode {
  readonly type: string
  readonly text?: string
  readonly attrs?: Readonly<Record<string, unknown>>
  readonly marks?: readonly { readonly type: string; readonly attrs?: Readonly<Record<string, unknown>> }[]
  readonly content?: readonly AdfNode[]
}

export interface AdfDocument {
  readonly type: 'doc'
  readonly version: 1
  readonly content: readonly AdfNode[]
}

/** Room for the JSON around a text that stands alone. */
const WRAPPING = 300

/** The first of `documents`, ordered from long to short, whose JSON has at most `max` characters; else the lead alone. */
export function toAdf(documents: readonly TicketDocument[], max: number, reference?: string): AdfDocument {
  const whole = documents.map(document => adfOf(document, reference))
  return whole.find(each => codePoints(JSON.stringify(each)) <= max) ?? leadAlone(documents.at(-1)!, max, reference)
}

function leadAlone({ lead }: TicketDocument, max: number, reference: string | undefined): AdfDocument {
  // JSON may write a character with six.
  const text = cutText(lead.map(span => span.text).join(''), Math.floor((max - WRAPPING) / 6))
  return adfOf({ lead: [{ text }], blocks: [] }, reference)
}

function adfOf({ lead, blocks, link }: TicketDocument, reference: string | undefined): AdfDocument {
  const linked: readonly AdfNode[] =
    link === undefined ? [] : [{ type: 'text', text: 'Open the incident', marks: [{ type: 'link', attrs: { href: link } }] }]
  const referred: readonly AdfNode[] =
    reference === undefined ? [] : [{ type: 'text', text: reference, marks: [{ type: 'textColor', attrs: { color: '#97a0af' } }] }]
  const foot = linked.length > 0 && referred.length > 0 ? [...linked, { type: 'text', text: ' · ' }, ...referred] : [...linked, ...referred]
  const content = [paragraph(lead), ...blocks.flatMap(toNodes), ...(foot.length > 0 ? [{ type: 'paragraph', content: foot }] : [])]
  return { type: 'doc', version: 1, content }
}

function toNodes(block: Block): readonly AdfNode[] {
  switch (block.kind) {
    case 'heading':
      return [{ type: 'heading', attrs: { level: 3 }, content: texts([{ text: block.text }]) }]
    case 'paragraph':
      return [paragraph(block.spans)]
    case 'list':
      return [{ type: 'bulletList', content: block.items.map(item => ({ type: 'listItem', content: [paragraph(item)] })) }]
    case 'code': {
      const text = block.lines.join('\n')
      return [{ type: 'codeBlock', content: text === '' ? [] : [{ type: 'text', text }] }]
    }
    case 'facts':
      return [{ type: 'table', content: block.facts.map(({ label, value }) => row(label, value)) }]
  }
}

function row(label: string, value: string): AdfNode {
  return {
    type: 'tableRow',
    content: [
      { type: 'tableHeader', content: [paragraph([{ text: label }])] },
      { type: 'tableCell', content: [paragraph([{ text: value }])] },
    ],
  }
}

function paragraph(spans: readonly Span[]): AdfNode {
  return { type: 'paragraph', content: texts(spans) }
}

/** Lines are parted by breaks: a line feed in a text is a blank to Jira. */
function texts(spans: readonly Span[]): readonly AdfNode[] {
  return spans.flatMap(({ text, style }) =>
    text
      .split('\n')
      .flatMap((line, at): readonly AdfNode[] => [
        ...(at === 0 ? [] : [{ type: 'hardBreak' }]),
        ...(line === '' ? [] : [{ type: 'text', text: line, ...(style !== undefined && { marks: [{ type: style }] }) }]),
      ]),
  )
}
