/** Atlassian Document Format: what Jira refuses of it, and how it shows. */
import { type Html, html, link } from '../html.ts'

export interface AdfNode {
  readonly type: string
  readonly text?: string
  readonly attrs?: Readonly<Record<string, unknown>>
  readonly marks?: readonly { readonly type: string; readonly attrs?: Readonly<Record<string, unknown>> }[]
  readonly content?: readonly AdfNode[]
}

type Show = (children: readonly Html[], node: AdfNode) => Html

const attr = ({ attrs = {} }: AdfNode, name: string) => String((Object.hasOwn(attrs, name) && attrs[name]) || '')

/** The nodes that are known: what each may hold (undefined: nothing), and its HTML. */
const NODES: Readonly<Record<string, { readonly holds?: 'blocks' | 'inline' | readonly string[]; readonly show: Show }>> = {
  doc: { holds: 'blocks', show: children => html`${children}` },
  paragraph: { holds: 'inline', show: children => html`<p>${children}</p>` },
  heading: { holds: 'inline', show: children => html`<h3>${children}</h3>` },
  blockquote: { holds: 'blocks', show: children => html`<blockquote>${children}</blockquote>` },
  panel: {
    holds: 'blocks',
    show: (children, node) => html`<div class="bar ${PANEL_TONES.get(attr(node, 'panelType')) ?? 'blue'}">${children}</div>`,
  },
  expand: { holds: 'blocks', show: (children, node) => html`<details><summary>${attr(node, 'title')}</summary>${children}</details>` },
  codeBlock: { holds: ['text'], show: children => html`<pre><code>${children}</code></pre>` },
  rule: { show: () => html`<hr>` },
  bulletList: { holds: ['listItem'], show: children => html`<ul>${children}</ul>` },
  orderedList: { holds: ['listItem'], show: children => html`<ol>${children}</ol>` },
  listItem: { holds: 'blocks', show: children => html`<li>${children}</li>` },
  table: { holds: ['tableRow'], show: children => html`<table>${children}</table>` },
  tableRow: { holds: ['tableHeader', 'tableCell'], show: children => html`<tr>${children}</tr>` },
  tableHeader: { holds: 'blocks', show: children => html`<th>${children}</th>` },
  tableCell: { holds: 'blocks', show: children => html`<td>${children}</td>` },
  text: { show: (_, node) => (node.marks ?? []).reduce((inner, mark) => MARKS[mark.type]!(inner, attr(mark, 'href')), html`${node.text}`) },
  hardBreak: { show: () => html`<br>` },
  mention: { show: (_, node) => html`<strong class="orange">${attr(node, 'text')}</strong>` },
  emoji: { show: (_, node) => html`${attr(node, 'text') || attr(node, 'shortName')}` },
  date: { show: (_, node) => html`${new Date(Number(attr(node, 'timestamp'))).toISOString()}` },
  status: { show: (_, node) => html`<span class="badge">${attr(node, 'text')}</span>` },
  inlineCard: { show: (_, node) => link(attr(node, 'url'), attr(node, 'url')) },
}
const INLINE = ['text', 'hardBreak', 'mention', 'emoji', 'date', 'status', 'inlineCard']
const PARTS = ['doc', 'listItem', 'tableRow', 'tableHeader', 'tableCell', ...INLINE]
const BLOCKS = Object.keys(NODES).filter(type => !PARTS.includes(type))

const PANEL_TONES = new Map(Object.entries({ error: 'red', warning: 'orange', note: 'blue', success: 'green', info: 'blue' }))

const MARKS: Readonly<Record<string, (inner: Html, href: string) => Html>> = {
  strong: inner => html`<strong>${inner}</strong>`,
  em: inner => html`<em>${inner}</em>`,
  code: inner => html`<code>${inner}</code>`,
  strike: inner => html`<s>${inner}</s>`,
  underline: inner => html`<u>${inner}</u>`,
  link: (inner, href) => link(href, inner),
  textColor: inner => inner,
}

/** Why Jira would refuse the document; undefined when it takes it. */
export function adfProblem(value: unknown): string | undefined {
  const root = value as AdfNode & { readonly version?: unknown }
  if (typeof value !== 'object' || value === null)
    return 'Operation value must be an Atlassian Document (see the Atlassian Document Format)'
  if (root.type !== 'doc' || root.version !== 1 || !Array.isArray(root.content))
    return 'INVALID_INPUT: expected type doc, version 1, content'
  return nodeProblem(root)
}

function nodeProblem(node: AdfNode): string | undefined {
  const known = Object.hasOwn(NODES, node.type) ? NODES[node.type]! : undefined
  if (known === undefined) return `INVALID_INPUT: unknown node ${JSON.stringify(node.type)}`
  if (node.type === 'text' && (typeof node.text !== 'string' || node.text === '')) return 'INVALID_INPUT: a text node may not be empty'
  if (node.type === 'heading' && ![1, 2, 3, 4, 5, 6].includes(Number(node.attrs?.['level'])))
    return 'INVALID_INPUT: heading needs attrs.level from 1 to 6'
  const mark = node.marks?.find(({ type }) => !Object.hasOwn(MARKS, type))
  if (mark !== undefined) return `INVALID_INPUT: unknown mark ${JSON.stringify(mark.type)}`
  const children = node.content ?? []
  const allowed = known.holds === 'blocks' ? BLOCKS : known.holds === 'inline' ? INLINE : (known.holds ?? [])
  const stray = children.find(child => !allowed.includes(child?.type))
  if (stray !== undefined) return `INVALID_INPUT: ${node.type} may not hold ${JSON.stringify(stray?.type)}`
  if (known.holds === 'blocks' && node.type !== 'doc' && children.length === 0) return `INVALID_INPUT: ${node.type} may not be empty`
  for (const child of children) {
    const problem = nodeProblem(child)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** For documents without a problem. */
export function showAdf(node: AdfNode): Html {
  return NODES[node.type]!.show((node.content ?? []).map(showAdf), node)
}

/** All its text, a line for each block. */
export function adfText(node: AdfNode): string {
  if (node.type === 'text') return node.text!
  if (node.type === 'hardBreak') return '\n'
  const inner = (node.content ?? []).map(adfText).join('')
  return INLINE.includes(node.type) || node.type === 'doc' ? inner : `${inner}\n`
}
