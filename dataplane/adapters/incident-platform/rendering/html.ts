/** A ticket as HTML for mail readers: tables and inline colours, as these readers know little else; dark colours where they ask for them. */
import type { Severity } from '../../../contract/platforms.ts'
import { cutText } from './cut-text.ts'
import type { Block, Span, TicketDocument } from './ticket-document.ts'

export interface HtmlParts {
  readonly title: string
  /** The colour at the top. */
  readonly mood: Severity | 'resolved'
  readonly document: TicketDocument
  /** Small print at the end. */
  readonly footer: string
}

const COLOURS: Readonly<Record<HtmlParts['mood'], string>> = {
  critical: '#b3261e',
  high: '#b45309',
  medium: '#8a6d00',
  low: '#52606d',
  resolved: '#18794e',
}
const SANS = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace"

/** Readers that drop the sheet keep the inline colours, which are the light ones. */
const SHEET = `
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #14171a !important; }
  .card { background: #1f2428 !important; border-color: #343b42 !important; }
  .text { color: #e6e9ec !important; }
  .soft { color: #9aa5b1 !important; }
  .mono { background: #14171a !important; border-color: #343b42 !important; color: #d5dae0 !important; }
  .code { background: #2b3238 !important; color: #e6e9ec !important; }
  .rule { border-color: #343b42 !important; }
}`

const MAX_PREVIEW = 140

export function toHtml({ title, mood, document, footer }: HtmlParts): string {
  const colour = COLOURS[mood]
  const lead = document.lead.map(({ text }) => text).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${SHEET}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f2f4f6">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(cutText(lead, MAX_PREVIEW))}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:680px;background:#ffffff;border:1px solid #dde2e7;border-radius:8px;border-collapse:separate;font-family:${SANS}">
<tr><td style="height:6px;line-height:6px;font-size:0;background:${colour};border-radius:8px 8px 0 0">&nbsp;</td></tr>
<tr><td class="text" style="padding:24px 28px;color:#1f2933;font-size:15px;line-height:1.5">
<h1 class="text" style="margin:0 0 12px;color:#1f2933;font-size:20px;line-height:1.3;font-weight:600;overflow-wrap:anywhere">${escapeHtml(title)}</h1>
<p style="margin:0 0 12px">${toInline(document.lead)}</p>
${document.blocks.map(toBlock).join('\n')}
${document.link === undefined ? '' : linkButton(document.link, colour)}
</td></tr></table>
<p class="soft" style="margin:12px 0 0;color:#66707c;font-family:${SANS};font-size:12px;line-height:1.4">${escapeHtml(footer)}</p>
</td></tr></table>
</body>
</html>
`
}

function toBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2 class="soft rule" style="margin:20px 0 6px;padding:14px 0 0;border-top:1px solid #e4e8ec;color:#66707c;font-size:13px;line-height:1.3;font-weight:600">${escapeHtml(block.text)}</h2>`
    case 'paragraph':
      return `<p style="margin:0 0 10px;overflow-wrap:anywhere">${toInline(block.spans)}</p>`
    case 'list':
      return `<ul style="margin:0 0 10px;padding:0 0 0 20px">${block.items.map(item => `<li style="margin:0 0 4px;overflow-wrap:anywhere">${toInline(item)}</li>`).join('')}</ul>`
    case 'code':
      return `<pre class="mono" style="margin:0 0 14px;padding:10px 12px;background:#f5f7f9;border:1px solid #e4e8ec;border-radius:6px;color:#26313c;font-family:${MONO};font-size:12px;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere">${block.lines.map(escapeHtml).join('\n')}</pre>`
    case 'facts':
      return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 10px;font-size:14px;line-height:1.5">${block.facts
        .map(
          ({ label, value }) =>
            `<tr><td class="soft" valign="top" style="padding:1px 20px 1px 0;color:#66707c;white-space:nowrap">${escapeHtml(label)}</td><td style="padding:1px 0;overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`,
        )
        .join('')}</table>`
  }
}

function linkButton(href: string, colour: string): string {
  return `<p style="margin:20px 0 0"><a href="${escapeHtml(href)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:${colour};color:#ffffff;font-weight:600;text-decoration:none">Open the incident</a></p>`
}

function toInline(spans: readonly Span[]): string {
  return spans
    .map(({ text, style }) => {
      const escaped = escapeHtml(text).replaceAll('\n', '<br>')
      if (style === 'strong') return `<strong>${escaped}</strong>`
      if (style !== 'code') return escaped
      return `<code class="code" style="padding:1px 5px;border-radius:4px;background:#eef1f4;font-family:${MONO};font-size:13px">${escaped}</code>`
    })
    .join('')
}

const ENTITIES = new Map(Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }))

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => ENTITIES.get(character)!)
}
