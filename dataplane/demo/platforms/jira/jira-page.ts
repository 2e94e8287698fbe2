import { badge, type Html, html, when } from '../html.ts'
import { adfText, showAdf } from './adf.ts'
import type { Issue } from './jira-issue.ts'

const TONES = { new: 'grey', indeterminate: 'blue', done: 'green' } as const
const PRIORITY_TONES = new Map(Object.entries({ Highest: 'red', High: 'orange', Medium: 'yellow', Low: 'blue' }))

export function showIssues(issues: readonly Issue[]): Html {
  return html`${issues.map(showIssue)}`
}

function showIssue({ key, issueType, summary, description, priority, labels, statuses, created, comments }: Issue): Html {
  const { status } = statuses.at(-1)!
  const newestFirst = [...comments].reverse()
  return html`<article id="${key}"><header><a href="/browse/${key}">${key}</a>${badge(status.name, TONES[status.category])}${badge(priority, PRIORITY_TONES.get(priority) ?? 'grey')}
<span class="soft">${issueType}</span>${when(created)}</header>
<h2>${summary}</h2>${description === undefined || adfText(description).trim() === '' ? html`<p class="soft">No description</p>` : showAdf(description)}
<p class="soft">Labels: ${labels.length === 0 ? 'none' : labels.map(label => html`<code>${label}</code> `)}
· Status: ${statuses.map(each => each.status.name).join(' → ')}</p>
${newestFirst.map(({ at, body }) => html`<div class="entry">${when(at)}${showAdf(body)}</div>`)}</article>`
}
