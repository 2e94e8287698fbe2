/** HTML that is escaped unless it is `Html` already, and the frame that all pages share. No scripts, nothing from elsewhere. */

export interface Html {
  readonly html: string
}

type Piece = Html | string | number | undefined | readonly (Html | string)[]

const ESCAPES = new Map(Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }))

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, letter => ESCAPES.get(letter)!)

const textOf = (piece: Piece): string => {
  if (piece === undefined) return ''
  if (Array.isArray(piece)) return piece.map(textOf).join('')
  return typeof piece === 'object' ? (piece as Html).html : escapeHtml(String(piece))
}

/** Texts and numbers are escaped; undefined is nothing. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { html: String.raw({ raw: strings }, ...pieces.map(textOf)) }
}

/** A link where the address is http or https, else the text alone. */
export function link(address: string, text: string | Html): Html {
  return /^https?:\/\//i.test(address) ? html`<a href="${address}" rel="noreferrer">${text}</a>` : html`${text}`
}

/** An ISO-8601 time as people read it: `2026-11-22 20:14:05Z`. */
export function when(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}Z</time>`
}

/** A label; `tone` is one of the classes of `STYLE`. */
export const badge = (text: string, tone: string) => html`<span class="badge ${tone}">${text}</span>`

export interface NavLink {
  readonly title: string
  readonly href: string
}

export interface PageParts {
  readonly title: string
  readonly nav: readonly NavLink[]
  readonly main: Html
  readonly footer?: Html
}

/** Headers of every page. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

export function page({ title, nav, main, footer }: PageParts): string {
  const links = nav.map(({ title: text, href }) =>
    text === title ? html`<a href="${href}" aria-current="page">${text}</a>` : html`<a href="${href}">${text}</a>`,
  )
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${title} – demo</title><style>${STYLE}</style></head>
<body><header><nav>${links}</nav><h1>${title}</h1></header><main>${main}</main><footer>${footer}<p>A stand-in on this machine: nothing leaves it. Reload the page for what is new.</p></footer></body>
</html>
`.html
}

const STYLE: Html = {
  html: `
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --text: #1d2129; --soft: #59636e; --line: #d8dde3; --code: #eef1f4; --link: #0b57d0;
  --red: #b3261e; --orange: #9a4a00; --yellow: #735c00; --blue: #0b57d0; --green: #146c2e; --grey: #59636e }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --card: #1d2126; --text: #e6e9ed; --soft: #a2acb8; --line: #343b44; --code: #272d34;
  --link: #8ab4f8; --red: #ff8a80; --orange: #ffb272; --yellow: #f2d26b; --blue: #8ab4f8; --green: #7ddc97; --grey: #a2acb8 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.25rem 3rem; background: var(--bg); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .9rem } nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none }
h1 { font-size: 1.5rem; margin: .75rem 0 } h2 { font-size: 1.1rem; margin: 0 0 .25rem; overflow-wrap: anywhere } h3 { font-size: 1rem; margin: .9rem 0 .25rem }
a { color: var(--link) } footer, .soft, time { color: var(--soft); font-size: .88rem }
article { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem; margin: 0 0 1rem; overflow-wrap: anywhere }
article > header { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; margin-bottom: .25rem }
.badge { border: 1px solid currentColor; border-radius: 99px; padding: 0 .55rem; font-size: .8rem; font-weight: 600; white-space: nowrap; color: var(--grey) }
.red { color: var(--red) } .orange { color: var(--orange) } .yellow { color: var(--yellow) } .blue { color: var(--blue) } .green { color: var(--green) }
.bar { border-left: 4px solid var(--line); padding-left: .8rem } .bar.red { border-color: var(--red) } .bar.orange { border-color: var(--orange) }
.bar.yellow { border-color: var(--yellow) } .bar.blue { border-color: var(--blue) } .bar.green { border-color: var(--green) } .bar { color: var(--text) }
pre, code { background: var(--code); border-radius: 4px; font: 13px/1.45 ui-monospace, monospace } code { padding: .1em .3em }
pre { padding: .6rem .75rem; overflow-x: auto; white-space: pre-wrap; margin: .4rem 0 } pre code { padding: 0 }
table { border-collapse: collapse; font-size: .92rem; margin: .4rem 0 } th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600; white-space: nowrap } p { margin: .35rem 0 } ul, ol { margin: .3rem 0; padding-left: 1.3rem } blockquote { margin: .4rem 0; padding-left: .8rem; border-left: 3px solid var(--line) }
.entry { border-top: 1px solid var(--line); margin-top: .6rem; padding-top: .5rem } details { margin-top: .5rem } summary { cursor: pointer; color: var(--soft) }
iframe { width: 100%; height: 26rem; resize: vertical; border: 1px solid var(--line); border-radius: 4px; background: #fff; color-scheme: light }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem }
.button { display: inline-block; border: 1px solid var(--line); border-radius: 6px; padding: .15rem .7rem; margin: .2rem .4rem .2rem 0 }
`,
}
