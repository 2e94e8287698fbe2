/** A ticket as plain text: descriptions and notes of ServiceNow and Opsgenie, the text part of mails. */
import { cutText } from './cut-text.ts'
import type { Block, Span, TicketDocument } from './ticket-document.ts'

export interface PlainTextOptions {
  readonly max: number
  /** Applied to each text that comes from logs and people. */
  readonly neutralise?: (text: string) => string
}

/** The first of `documents`, ordered from long to short, that fits; else the last one, cut. */
export function toPlainText(documents: readonly TicketDocument[], { max, neutralise = text => text }: PlainTextOptions): string {
  let text = ''
  for (const document of documents) {
    text = render(document, neutralise)
    if (cutText(text, max) === text) return text
  }
  return cutText(text, max)
}

function render({ lead, blocks, link }: TicketDocument, neutralise: (text: string) => string): string {
  const told = blocks.reduce(
    (text, block, index) => `${text}${isClose(blocks[index - 1], block) ? '\n' : '\n\n'}${toLines(block)}`,
    toLine(lead),
  )
  return neutralise(link === undefined ? told : `${told}\n\nOpen the incident: ${link}`)
}

/** Whether a block stands right below the one before. */
function isClose(before: Block | undefined, block: Block): boolean {
  return before?.kind === 'heading' || (before?.kind === 'paragraph' && (block.kind === 'code' || block.kind === 'list'))
}

function toLines(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return block.text.toUpperCase()
    case 'paragraph':
      return toLine(block.spans)
    case 'list':
      return block.items.map(item => `- ${toLine(item)}`).join('\n')
    case 'code':
      return block.lines.map(line => `    ${line}`).join('\n')
    case 'facts':
      return block.facts.map(({ label, value }) => `${label}: ${value}`).join('\n')
  }
}

function toLine(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('')
}
