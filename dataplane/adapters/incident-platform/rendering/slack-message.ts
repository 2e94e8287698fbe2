/** A ticket as a message of Slack: the lead as its head, the rest beside a bar in the colour of the severity. */
import type { Severity } from '../../../contract/platforms.ts'
import { codePoints, cutText } from './cut-text.ts'
import type { Block, Span, TicketDocument } from './ticket-document.ts'

const MAX_BLOCKS = 50
const MAX_SECTION = 3_000
const MAX_HEADER = 150
const MAX_FENCE = 2_500
/** Slack refuses about 13,000 over all blocks (`msg_blocks_too_long`). */
const MAX_CHARACTERS = 10_000
/** Characters of a message without blocks. */
const MAX_TEXT = 4_000

const COLOURS: Readonly<Record<Severity | 'resolved', string>> = {
  critical: '#b3261e',
  high: '#e8710a',
  medium: '#f2b705',
  low: '#5f6b7a',
  resolved: '#1e8e3e',
}
const EMOJI: Readonly<Record<Severity | 'resolved', string>> = {
  critical: ':red_circle:',
  high: ':large_orange_circle:',
  medium: ':large_yellow_circle:',
  low: ':white_circle:',
  resolved: ':white_check_mark:',
}

export interface SlackParts {
  readonly title: string
  readonly mood: Severity | 'resolved'
  /** Ordered from long to short; the first that fits is shown. */
  readonly documents: readonly TicketDocument[]
  /** Such as `<!channel>`, as Slack reads it. */
  readonly mention?: string
  readonly footer?: string
}

type SlackBlock = Readonly<Record<string, unknown>>

export interface SlackMessage {
  readonly text: string
  readonly blocks: readonly SlackBlock[]
  readonly attachments: readonly { readonly color: string; readonly fallback: string; readonly blocks: readonly SlackBlock[] }[]
}

export function toSlackMessage(parts: SlackParts): SlackMessage {
  const messages = parts.documents.map(document => messageOf(parts, document))
  return messages.find(fits) ?? withoutRest(messages.at(-1)!)
}

function messageOf({ title, mood, mention, footer }: SlackParts, document: TicketDocument): SlackMessage {
  const call = mention === undefined ? '' : `${mention} `
  const lead = toMrkdwn(document.lead)
  const head = escapeSlack(title)
  const rest = [
    ...sectionsOf(document.blocks),
    ...(document.link === undefined ? [] : [linkButton(document.link)]),
    ...(footer === undefined ? [] : [{ type: 'context', elements: [mrkdwn(escapeSlack(footer))] }]),
  ]
  return {
    // The text of notifications: Slack itself shows the blocks in its place.
    text: cutEscaped(`${call}${EMOJI[mood]} ${toMrkdwn([{ text: title }])} – ${lead}`, MAX_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cutEscaped(`${EMOJI[mood]} ${head}`, MAX_HEADER), emoji: true } },
      section(`${call}${lead}`),
    ],
    attachments: rest.length === 0 ? [] : [{ color: COLOURS[mood], fallback: cutEscaped(head, MAX_HEADER), blocks: rest }],
  }
}

/** The message without blocks: longer than the text of notifications, and harder to read than blocks. */
export function toSlackText(parts: SlackParts): string {
  const texts = parts.documents.map(document => plainTextOf(parts, document, document.blocks.map(textOf)))
  return texts.find(text => codePoints(text) <= MAX_TEXT) ?? cutEscaped(plainTextOf(parts, parts.documents.at(-1)!, []), MAX_TEXT)
}

function plainTextOf({ title, mood, mention, footer }: SlackParts, { lead, link }: TicketDocument, blocks: readonly string[]): string {
  const call = mention === undefined ? '' : `${mention} `
  const open = link === undefined ? [] : [`<${escapeSlack(link).replaceAll('|', '%7C')}|Open the incident>`]
  const head = [`${call}${EMOJI[mood]} ${toMrkdwn([{ text: cutText(title, MAX_HEADER), style: 'strong' }])}`, toMrkdwn(lead)]
  return [...head, ...open, ...blocks, ...(footer === undefined ? [] : [escapeSlack(footer)])].join('\n')
}

/** A heading and what stands below it make one section, as long as there is room in it. */
function sectionsOf(blocks: readonly Block[]): readonly SlackBlock[] {
  const sections: SlackBlock[] = []
  let text = ''
  const flush = () => {
    if (text !== '') sections.push(section(text))
    text = ''
  }
  for (const block of blocks) {
    if (block.kind === 'heading') flush()
    const part = textOf(block)
    if (text !== '' && codePoints(text) + codePoints(part) >= MAX_SECTION) flush()
    text = text === '' ? part : `${text}\n${part}`
  }
  flush()
  return sections
}

function textOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return toMrkdwn([{ text: block.text, style: 'strong' }])
    case 'paragraph':
      return toMrkdwn(block.spans)
    case 'list':
      return block.items.map(item => `• ${toMrkdwn(item)}`).join('\n')
    case 'code':
      return fence(block.lines)
    case 'facts':
      return block.facts.map(({ label, value }) => toMrkdwn([{ text: `${label}: ` }, { text: value, style: 'strong' }])).join('\n')
  }
}

/** Lines that find no room are left out, so that the fence is always closed. */
function fence(lines: readonly string[]): string {
  const shown: string[] = []
  let room = MAX_FENCE
  for (const line of lines) {
    const escaped = escapeSlack(line).replaceAll('```', "'''")
    room -= codePoints(escaped) + 1
    if (room < 0) break
    shown.push(escaped)
  }
  return `\`\`\`${shown.length === 0 ? '…' : shown.join('\n')}\`\`\``
}

function toMrkdwn(spans: readonly Span[]): string {
  return spans
    .map(({ text, style }) => {
      if (style === 'code') return `\`${escapeSlack(text).replaceAll('`', "'")}\``
      const plain = escapeSlack(withoutMarks(text))
      return style === 'strong' ? `*${plain}*` : plain
    })
    .join('')
}

/** Slack has no way to write these as themselves. */
const LIKENESSES = new Map(Object.entries({ '*': '∗', '~': '∼', '`': "'", _: 'ˍ' }))
/** An underscore within a word is one. */
const MARKS = /[*~`]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu

/** The text with signs that look alike in the place of those that would make it bold, struck out, code or italic: `<*> because <*>` would lose its asterisks. */
function withoutMarks(text: string): string {
  return text.replaceAll(MARKS, marks => LIKENESSES.get(marks[0]!)!.repeat(marks.length))
}

/** Escapes a text: signs that Slack reads as links and mentions (`<!channel>`) stay text. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** No half of `&lt;` at the end. */
function cutEscaped(text: string, max: number): string {
  const cut = cutText(text, max)
  return cut === text ? text : cut.replace(/&[a-z]{0,3}…$/, '…')
}

function section(text: string): SlackBlock {
  return { type: 'section', text: mrkdwn(cutEscaped(text || '–', MAX_SECTION)) }
}

/** `verbatim`: addresses, channels and names in log text stay text. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true }
}

function linkButton(url: string): SlackBlock {
  return { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open the incident' }, url }] }
}

function fits(message: SlackMessage): boolean {
  const blocks = message.attachments.flatMap(each => each.blocks)
  return message.blocks.length + blocks.length <= MAX_BLOCKS && codePoints(JSON.stringify([message.blocks, blocks])) <= MAX_CHARACTERS
}

/** The head alone says what happened. */
function withoutRest(message: SlackMessage): SlackMessage {
  return { ...message, attachments: [] }
}
