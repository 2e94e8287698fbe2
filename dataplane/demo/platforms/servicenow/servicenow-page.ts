import { badge, type Html, html, when } from '../html.ts'
import { type ServiceNowIncident, STATES } from './servicenow-incidents.ts'

const STATE_TONES = new Map(Object.entries({ 1: 'red', 2: 'blue', 3: 'yellow', 6: 'green', 7: 'grey', 8: 'grey' }))
const PRIORITY_NAMES = new Map(
  Object.entries({
    1: '1 - Critical',
    2: '2 - High',
    3: '3 - Moderate',
    4: '4 - Low',
    5: '5 - Planning',
  }),
)
const PRIORITY_TONES = new Map(Object.entries({ 1: 'red', 2: 'orange', 3: 'yellow', 4: 'blue', 5: 'grey' }))
const SHOWN = [
  'impact',
  'urgency',
  'category',
  'assignment_group',
  'caller_id',
  'correlation_id',
  'correlation_display',
  'close_code',
  'close_notes',
]

export function showIncident({ fields, workNotes }: ServiceNowIncident): Html {
  const { state = '', priority = '', number, sys_id: id = '', opened_at: openedAt } = fields
  return html`<article id="${id}"><header><strong>${number}</strong>${badge(STATES[state]!, STATE_TONES.get(state)!)}${badge(PRIORITY_NAMES.get(priority)!, PRIORITY_TONES.get(priority)!)}<span class="soft">opened ${openedAt}</span></header>
<h2>${fields['short_description']}</h2><pre>${fields['description']}</pre>
<table>${SHOWN.filter(name => fields[name] !== '').map(name => html`<tr><th>${name}</th><td>${fields[name]}</td></tr>`)}</table>
${[...workNotes].reverse().map(({ at, text }) => html`<div class="entry">${when(at)} Work notes<pre>${text}</pre></div>`)}</article>`
}
