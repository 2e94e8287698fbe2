/** Block Kit: the limits by which Slack refuses blocks, and how they show. */
import { z } from 'zod'
import { type Html, html, link } from '../html.ts'
import { showMrkdwn, showPlain } from './mrkdwn.ts'

const limited = (max: number) =>
  z
    .string()
    .min(1)
    .refine(text => [...text].length <= max, `more than ${max} characters`)

const plainText = (max: number) => z.object({ type: z.literal('plain_text'), text: limited(max), emoji: z.boolean().optional() })
const anyText = (max: number) =>
  z.object({ type: z.enum(['plain_text', 'mrkdwn']), text: limited(max), verbatim: z.boolean().optional(), emoji: z.boolean().optional() })
type AnyText = { readonly type: 'plain_text' | 'mrkdwn'; readonly text: string }

const BUTTON = z.object({
  type: z.literal('button'),
  text: plainText(75),
  url: z
    .url({ protocol: /^https?$/ })
    .max(3_000)
    .optional(),
  value: z.string().max(2_000).optional(),
  action_id: z.string().max(255).optional(),
  style: z.enum(['primary', 'danger']).optional(),
})
const COMMON = { block_id: limited(255).optional() }
const BLOCK = z.discriminatedUnion('type', [
  z.object({ ...COMMON, type: z.literal('header'), text: plainText(150) }),
  z
    .object({
      ...COMMON,
      type: z.literal('section'),
      text: anyText(3_000).optional(),
      fields: z.array(anyText(2_000)).min(1).max(10).optional(),
      accessory: BUTTON.optional(),
      expand: z.boolean().optional(),
    })
    .refine(({ text, fields }) => text !== undefined || fields !== undefined, 'a section needs text or fields'),
  z.object({ ...COMMON, type: z.literal('divider') }),
  z.object({ ...COMMON, type: z.literal('context'), elements: z.array(anyText(3_000)).min(1).max(10) }),
  z.object({ ...COMMON, type: z.literal('actions'), elements: z.array(BUTTON).min(1).max(25) }),
])
export type SlackBlock = z.output<typeof BLOCK>

const MAX_BLOCKS = 50
/** Over all blocks; not documented, seen in the field. */
const MAX_BLOCK_TEXT = 13_000

export const BLOCKS = z.array(BLOCK).max(MAX_BLOCKS)

export function blocksAreTooLong(blocks: readonly SlackBlock[]): boolean {
  return [...JSON.stringify(blocks.map(textsOf))].length > MAX_BLOCK_TEXT
}

/** The texts of a block that a person reads. */
export function textsOf(block: SlackBlock): readonly string[] {
  switch (block.type) {
    case 'divider':
      return []
    case 'header':
      return [block.text.text]
    case 'section':
      return [block.text, ...(block.fields ?? []), block.accessory?.text].flatMap(each => (each === undefined ? [] : [each.text]))
    case 'context':
      return block.elements.map(({ text }) => text)
    case 'actions':
      return block.elements.map(({ text }) => text.text)
  }
}

const showText = ({ type, text }: AnyText) => (type === 'mrkdwn' ? showMrkdwn(text) : showPlain(text))
const showButton = ({ text, url }: z.output<typeof BUTTON>) =>
  html`<span class="button">${url === undefined ? text.text : link(url, text.text)}</span>`

export function showBlock(block: SlackBlock): Html {
  switch (block.type) {
    case 'divider':
      return html`<hr>`
    case 'header':
      return html`<h2>${showPlain(block.text.text)}</h2>`
    case 'section': {
      const fields = (block.fields ?? []).map(field => html`<p>${showText(field)}</p>`)
      return html`<div>${block.text && showText(block.text)}<div class="fields">${fields}</div>${block.accessory && showButton(block.accessory)}</div>`
    }
    case 'context':
      return html`<p class="soft">${block.elements.map(element => html`${showText(element)} `)}</p>`
    case 'actions':
      return html`<p>${block.elements.map(showButton)}</p>`
  }
}
