/** The page that lists the stubs, with what to paste. */
import { html, type NavLink } from './html.ts'
import { platformSettings, routingSettings, type StubAddresses } from './settings.ts'
import type { StubPlatform } from './stub-platform.ts'

/** The commands that make the ticketing agent on `ticketingPort` of this machine send its tickets here. */
export function pasteCommands({ index }: StubAddresses, ticketingPort: number): readonly string[] {
  return ['platforms', 'routing'].map(
    section =>
      `curl -s ${index}/settings/${section} | curl -s -X PATCH http://127.0.0.1:${ticketingPort}/api/v1/config/${section} -H 'content-type: application/json' -d @-`,
  )
}

export interface IndexDeps {
  readonly addresses: () => StubAddresses
  readonly nav: () => readonly NavLink[]
  readonly ticketingPort: number
}

export function createIndex({ addresses, nav, ticketingPort }: IndexDeps): StubPlatform {
  return {
    title: 'Demo platforms',
    routes: [
      { method: 'GET', path: '/settings/platforms', handle: () => ({ body: platformSettings(addresses()) }) },
      { method: 'GET', path: '/settings/routing', handle: () => ({ body: routingSettings() }) },
    ],
    refuse: status => ({ status, body: { error: 'no such page', status } }),
    state: () => ({ addresses: addresses() }),
    page: () => showIndex(addresses(), nav(), pasteCommands(addresses(), ticketingPort)),
    clear: () => undefined,
  }
}

function showIndex(addresses: StubAddresses, nav: readonly NavLink[], commands: readonly string[]) {
  const settings = platformSettings(addresses)
  const fault = `curl -s ${addresses.jira}/_stub/faults -H 'content-type: application/json' -d '{"kind":"status","status":500,"times":2}'`
  return html`<article><h2>Send tickets here</h2><pre>${commands.join('\n')}</pre>
<details><summary>What that sends</summary><pre>${JSON.stringify(settings, undefined, 2)}</pre><pre>${JSON.stringify(routingSettings(), undefined, 2)}</pre></details></article>
<article><h2>See what arrived</h2><ul>${nav.slice(1).map(({ title, href }) => html`<li><a href="${href}">${title}</a> <code>${href}</code></li>`)}</ul>
<p>SMTP listens on <code>${addresses.smtp.host}:${addresses.smtp.port}</code>.</p></article>
<article><h2>Make one fail</h2><p>Two requests to Jira answer 500, then all is well again:</p><pre>${fault}</pre>
<p>Kinds: <code>status</code>, <code>rate-limit</code>, <code>reset</code>, <code>stall</code>, <code>html</code>, <code>limit</code>, <code>own</code> (Jira: <code>search-lag</code>, <code>missing-transition</code>; Opsgenie: <code>fails-later</code>).</p></article>`
}
