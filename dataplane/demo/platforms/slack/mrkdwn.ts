/** Slack's markup as a reader sees it. `&`, `<` and `>` come escaped; between `<` and `>` stand links and mentions. */
import { escapeHtml, type Html, html, link } from '../html.ts'

const TOKEN =
  /```([\s\S]+?)```|`([^`\n]+)`|<([^<>\n]+)>|(?<![\w*])\*([^*\n]+)\*(?![\w*])|(?<![\w_])_([^_\n]+)_(?![\w_])|(?<![\w~])~([^~\n]+)~(?![\w~])|:([a-z0-9_+-]+):/g

const EMOJI = new Map(
  Object.entries({
    rotating_light: '🚨',
    red_circle: '🔴',
    large_orange_circle: '🟠',
    large_yellow_circle: '🟡',
    large_blue_circle: '🔵',
    large_green_circle: '🟢',
    white_check_mark: '✅',
    warning: '⚠️',
    eyes: '👀',
    fire: '🔥',
    mag: '🔍',
    arrow_up: '⬆️',
    arrows_counterclockwise: '🔄',
    speech_balloon: '💬',
    no_entry: '⛔',
    information_source: 'ℹ️',
    bell: '🔔',
    repeat: '🔁',
    bulb: '💡',
    hourglass: '⏳',
    hourglass_flowing_sand: '⏳',
    link: '🔗',
    point_right: '👉',
    rewind: '⏪',
    leftwards_arrow_with_hook: '↩️',
  }),
)

const plain = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
const lines = (text: string): Html => ({ html: escapeHtml(plain(text)).replaceAll('\n', '<br>') })

export function showMrkdwn(text: string): Html {
  const parts: Html[] = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    const [whole, block, code, angled, bold, italic, struck, emoji] = match
    parts.push(lines(text.slice(at, match.index)))
    at = match.index + whole.length
    if (block !== undefined) parts.push(html`<pre>${plain(block).replace(/^\n|\n$/g, '')}</pre>`)
    else if (code !== undefined) parts.push(html`<code>${plain(code)}</code>`)
    else if (angled !== undefined) parts.push(showAngled(angled))
    else if (bold !== undefined) parts.push(html`<strong>${showMrkdwn(bold)}</strong>`)
    else if (italic !== undefined) parts.push(html`<em>${showMrkdwn(italic)}</em>`)
    else if (struck !== undefined) parts.push(html`<s>${showMrkdwn(struck)}</s>`)
    else parts.push(html`${EMOJI.get(emoji!) ?? whole}`)
  }
  return html`${[...parts, lines(text.slice(at))]}`
}

/** `!here`, `@U123`, `#C123`, `!date^…|text`, or an address with or without a text. */
function showAngled(inner: string): Html {
  const bar = inner.indexOf('|')
  const [target, text] = bar < 0 ? [inner, inner] : [inner.slice(0, bar), inner.slice(bar + 1)]
  if (target.startsWith('!date^')) return html`${plain(text)}`
  return /^[!@#]/.test(target) ? html`<strong class="orange">${target.replace(/^!/, '@')}</strong>` : link(plain(target), plain(text))
}

/** Texts as they are, for plain text objects; emoji are shown. */
export function showPlain(text: string): Html {
  return lines(text.replace(/:([a-z0-9_+-]+):/g, (whole, name: string) => EMOJI.get(name) ?? whole))
}

/** Mentions of everybody, or of somebody by name. */
export function mentionsIn(text: string): readonly string[] {
  return [...text.matchAll(/<([!@][^<>|]+)[^<>]*>/g)].map(([, target]) => target!).filter(target => !target.startsWith('!date^'))
}
