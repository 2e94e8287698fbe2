/** A Slack incoming webhook: `ok`, or an error as plain text; a message a second. The last part of the path is the channel. */
import { z } from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { type Html, html, when } from '../html.ts'
import { createNewest } from '../newest.ts'
import type { StubAnswer, StubPlatform } from '../stub-platform.ts'
import { mentionsIn, showMrkdwn } from './mrkdwn.ts'
import { BLOCKS, blocksAreTooLong, type SlackBlock, showBlock, textsOf } from './slack-blocks.ts'

interface SlackMessage {
  readonly at: string
  readonly channel: string
  readonly text: string
  readonly blocks: readonly SlackBlock[]
  readonly attachments: readonly Attachment[]
}

const ATTACHMENT = z.object({
  color: z.string().optional(),
  text: z.string().optional(),
  title: z.string().optional(),
  fallback: z.string().optional(),
  blocks: BLOCKS.optional(),
})
type Attachment = z.output<typeof ATTACHMENT>
const MESSAGE = z.object({
  text: z.string().max(40_000).optional(),
  blocks: BLOCKS.optional(),
  attachments: z.array(ATTACHMENT).max(100).optional(),
})

/** Errors by status. */
const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_payload',
  403: 'action_prohibited',
  404: 'channel_not_found',
  410: 'channel_is_archived',
  429: 'rate_limited',
  500: 'rollup_error',
}

export function createSlack(clock: Clock): StubPlatform {
  const messages = createNewest<SlackMessage>()
  let count = 0
  return {
    title: 'Slack',
    rateLimit: { perSecond: 1, burst: 5, callerOf: ({ params }) => params['channel'] ?? '' },
    routes: [
      {
        method: 'POST',
        path: '/services/T0DEMO/B0DEMO/:channel',
        handle({ params, json }) {
          const parsed = MESSAGE.safeParse(json)
          if (!parsed.success) return refuse(400, errorOf(json, parsed.error))
          const { text = '', blocks = [], attachments = [] } = parsed.data
          if (text === '' && blocks.length === 0 && attachments.length === 0) return refuse(400, 'no_text')
          if (blocksAreTooLong([...blocks, ...attachments.flatMap(each => each.blocks ?? [])])) return refuse(400, 'msg_blocks_too_long')
          messages.put(String(++count), {
            at: new Date(clock.nowMs()).toISOString(),
            channel: params['channel']!,
            text,
            blocks,
            attachments,
          })
          return { body: 'ok' }
        },
      },
    ],
    refuse: status => refuse(status, ERRORS[status] ?? 'made_to_fail'),
    state: () => ({
      messages: messages
        .all()
        .map(message => ({ ...message, readable: readableText(message), mentions: mentionsIn(JSON.stringify(message)) })),
    }),
    page: () => html`${messages.all().map(showMessage)}`,
    clear: () => messages.clear(),
  }
}

const refuse = (status: number, text: string): StubAnswer => ({ status, body: text })

function errorOf(json: unknown, error: z.ZodError): string {
  const isBlocks = error.issues.some(({ path }) => path.includes('blocks'))
  if (typeof json !== 'object' || json === null || !isBlocks) return 'invalid_payload'
  return Array.isArray((json as { blocks?: unknown }).blocks) ? 'invalid_blocks' : 'invalid_blocks_format'
}

function readableText({ text, blocks, attachments }: SlackMessage): string {
  const parts = [...blocks, ...attachments.flatMap(each => each.blocks ?? [])].flatMap(textsOf)
  return [text, ...parts, ...attachments.flatMap(each => [each.title ?? '', each.text ?? ''])].filter(Boolean).join('\n')
}

/** Where there are blocks, the text is for notifications alone. */
function showMessage({ at, channel, text, blocks, attachments }: SlackMessage): Html {
  return html`<article><header><strong>logpipeline</strong><span class="soft">#${channel}</span>${when(at)}</header>
${blocks.length === 0 ? html`<div>${showMrkdwn(text)}</div>` : blocks.map(showBlock)}${attachments.map(showAttachment)}
${blocks.length === 0 ? '' : html`<details><summary>Notification</summary>${showMrkdwn(text)}</details>`}</article>`
}

const TONES = new Map(Object.entries({ danger: 'red', warning: 'orange', good: 'green' }))

function showAttachment({ color = '', title, text, blocks = [] }: Attachment): Html {
  const isHex = /^#?[0-9a-f]{6}$/i.test(color)
  const style = isHex ? `border-color: #${color.replace('#', '')}` : ''
  return html`<div class="bar ${TONES.get(color) ?? ''}" style="${style}">${title === undefined ? '' : html`<strong>${title}</strong>`}${text === undefined ? '' : showMrkdwn(text)}${blocks.map(showBlock)}</div>`
}
