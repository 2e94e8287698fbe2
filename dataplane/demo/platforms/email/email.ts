/** Mail, as an inbox shows it: a thread for each first message, a message that comes again shown once. */
import { createHash } from 'node:crypto'
import type { Clock } from '../../../ports/clock.ts'
import { badge, escapeHtml, type Html, html, when } from '../html.ts'
import { append, createNewest } from '../newest.ts'
import type { StubPlatform } from '../stub-platform.ts'
import { parseMail } from './mail-message.ts'

interface Mail {
  readonly at: string
  readonly messageId: string
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string
  /** How often it was delivered with this id. */
  deliveries: number
}

interface Thread {
  readonly id: string
  readonly mails: Mail[]
}

export interface EmailStub extends StubPlatform {
  receive(source: Buffer, envelope: { readonly from: string; readonly to: readonly string[] }): void
}

export function createEmail(clock: Clock): EmailStub {
  const threads = createNewest<Thread>()
  /** Message id → thread. */
  const threadOf = createNewest<string>(10_000)

  const receive: EmailStub['receive'] = (source, { from, to }) => {
    const { headers, text, html } = parseMail(source)
    const messageId = headers['message-id'] ?? `<${createHash('sha256').update(source).digest('hex').slice(0, 32)}@stub>`
    const known = idsIn(`${headers['references'] ?? ''} ${headers['in-reply-to'] ?? ''} ${messageId}`).find(
      id => threadOf.get(id) !== undefined,
    )
    const id = threadOf.get(known ?? '') ?? messageId
    threadOf.put(messageId, id)
    const thread = threads.get(id) ?? threads.put(id, { id, mails: [] })
    const again = thread.mails.find(mail => mail.messageId === messageId)
    if (again !== undefined) again.deliveries += 1
    else
      append(thread.mails, {
        at: new Date(clock.nowMs()).toISOString(),
        messageId,
        from,
        to,
        subject: headers['subject'] ?? '',
        headers,
        text,
        html,
        deliveries: 1,
      })
  }

  return {
    title: 'E-mail',
    routes: [],
    receive,
    refuse: status => ({ status, body: { error: 'no such page', status } }),
    state: () => ({ threads: threads.all() }),
    page: () => html`${threads.all().map(showThread)}`,
    clear() {
      threads.clear()
      threadOf.clear()
    },
  }
}

const idsIn = (text: string) => text.match(/<[^<>\s]+>/g) ?? []

function showThread({ mails }: Thread): Html {
  return html`<article>${[...mails].reverse().map((mail, at) => html`<div class="${at === 0 ? '' : 'entry'}">${showMail(mail, at === 0)}</div>`)}</article>`
}

function showMail({ at, from, to, subject, text, html: rich, deliveries }: Mail, isNewest: boolean): Html {
  const body =
    rich === ''
      ? html`<pre>${text}</pre>`
      : html`<iframe sandbox srcdoc="${{ html: escapeHtml(rich) }}" title="${subject}"></iframe><details><summary>As plain text</summary><pre>${text}</pre></details>`
  return html`<h2>${subject}</h2><p class="soft">${from} → ${to.join(', ')} · ${when(at)} ${deliveries > 1 ? badge(`${deliveries} ×`, 'orange') : ''}</p>
${isNewest ? body : html`<details><summary>Show</summary>${body}</details>`}`
}
