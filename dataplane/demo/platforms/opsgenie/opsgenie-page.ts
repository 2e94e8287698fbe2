import { badge, type Html, html, when } from '../html.ts'
import type { Alert } from './opsgenie-alert.ts'

const TONES = { P1: 'red', P2: 'orange', P3: 'yellow', P4: 'blue', P5: 'grey' } as const

export function showAlert(alert: Alert): Html {
  const status = alert.status === 'closed' ? 'closed' : alert.acknowledged ? 'acknowledged' : 'open'
  return html`<article><header>${badge(status, { open: 'red', acknowledged: 'yellow', closed: 'green' }[status])}${badge(alert.priority, TONES[alert.priority])}<span class="soft">#${alert.tinyId} · ${alert.count} ×</span>${when(alert.createdAt)}</header>
<h2>${alert.message}</h2><p>${alert.tags.map(tag => html`<code>${tag}</code> `)}</p><pre>${alert.description}</pre>
<table>${Object.entries({ entity: alert.entity, source: alert.source, ...alert.details }).map(([name, value]) => (value === '' ? '' : html`<tr><th>${name}</th><td>${value}</td></tr>`))}</table>
<details open><summary>Activity</summary><ul>${alert.log.map(({ at, text, note }) => html`<li>${when(at)} ${text}${note === undefined ? '' : `: ${note}`}</li>`)}</ul></details><p class="soft">alias <code>${alert.alias}</code></p></article>`
}
