/** An incident as people get it, for looking at what platforms make of it. */
import type { StateChange } from '../../../domain/tickets/outbox-row.ts'
import type { TicketContent } from '../../../domain/tickets/ticket-content.ts'
import type { TicketRequest } from '../../../ports/incident-platform.ts'

export const CHECKOUT_INCIDENT: TicketContent = {
  incidentId: '7c1f9a52-64d0-5c1e-9b7e-0f6f2c3d4e5f',
  tenantId: 'shop',
  title: 'checkout: Payment declined: upstream <*> timed out after <*> ms',
  sentence:
    'checkout and 2 other services logged 412 anomalies within 4 min; most of them say “Payment declined: upstream <*> timed out after <*> ms”.',
  severity: 'critical',
  status: 'open',
  service: 'checkout',
  affectedServices: ['checkout', 'payment', 'orders'],
  anomalyCount: 412,
  firstSeen: '2026-11-21T03:02:11.204Z',
  lastSeen: '2026-11-21T03:06:48.913Z',
  recurring: false,
  cause: {
    summary:
      'Most likely payment: “Connection pool exhausted: <*> of <*> in use” is new: 96 records, 0 expected; first at 03:01:58 UTC. Next: postgres-proxy, checkout.',
    mode: 'rules',
    fallback: false,
    candidates: [
      {
        service: 'payment',
        score: 14.2,
        reasons: [
          '“Connection pool exhausted: <*> of <*> in use” is new: 96 records, 0 expected; first at 03:01:58 UTC',
          'slower within payment: 4.8 s between records of a trace (median of 120), 35 ms before; first at 03:02:03 UTC',
        ],
      },
      { service: 'postgres-proxy', score: 6.1, reasons: ['has gone silent: 0 records, 240 expected'] },
      { service: 'checkout', score: 3.9, reasons: ['more errors: 388 of 1,204 records, 6.1 expected; first at 03:02:11 UTC'] },
    ],
  },
  evidence: [
    {
      pattern: 'Payment declined: upstream <*> timed out after <*> ms',
      count: 316,
      samples: [
        {
          timestamp: '2026-11-21T03:02:11.204Z',
          level: 'ERROR',
          service: 'checkout',
          message: 'Payment declined: upstream payment:8443 timed out after 5000 ms (order=A-20931 customer="Zoë & Söhne 🚲")',
          logId: 'l1',
          traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
        },
        {
          timestamp: '2026-11-21T03:02:13.871Z',
          level: 'ERROR',
          service: 'checkout',
          message: 'Payment declined: upstream payment:8443 timed out after 5000 ms (order=A-20934 customer="日本商店")',
          logId: 'l2',
        },
      ],
    },
    {
      pattern: 'Connection pool exhausted: <*> of <*> in use',
      count: 96,
      samples: [
        {
          timestamp: '2026-11-21T03:01:58.020Z',
          level: 'FATAL',
          service: 'payment',
          message:
            'Connection pool exhausted: 50 of 50 in use\n\tat com.shop.Pool.take(Pool.java:118)\n\tat com.shop.Pay.charge(Pay.java:64)',
          logId: 'l3',
        },
      ],
    },
  ],
  nextAction: 'Look at payment first: its connection pool has been exhausted since 03:01:58 UTC.',
  link: 'https://logs.example.com/incidents/7c1f9a52-64d0-5c1e-9b7e-0f6f2c3d4e5f',
  news: [],
}

/** Log lines that try to be something else, in the places where strangers' text stands. */
export const HOSTILE_INCIDENT: TicketContent = {
  ...CHECKOUT_INCIDENT,
  title: 'web: <!channel> <@U012> [x](http://evil.example) <img src=x onerror=alert(1)>\r\nBcc: all@example.com',
  sentence: '<!everyone> & <script>alert(1)</script> ``` [code]<b>x</b>[/code] \u202egnp.exe \u001b[31mred\u001b[0m \ud83d',
  evidence: [
    {
      pattern: '`<!here>`',
      count: 1,
      samples: [
        {
          timestamp: '2026-11-21T03:02:11.204Z',
          level: 'ERROR',
          service: 'web',
          message: '``` <!channel> <http://evil.example|safe> </pre><script>',
          logId: 'l1',
        },
        { timestamp: '2026-11-21T03:02:11.204Z', level: 'ERROR', service: 'web', message: '', logId: 'l2' },
      ],
    },
    { pattern: '', count: 2, samples: [] },
  ],
}

const TARGET_FIELDS = {
  pagerduty: { routingKey: 'R0123456789ABCDEF0123456789ABCDE', apiBaseUrl: 'https://pagerduty.example.com' },
  jira: {
    baseUrl: 'https://jira.example.com/',
    userEmail: 'bot@example.com',
    apiToken: 'jira-secret-token',
    projectKey: 'OPS',
    issueType: 'Bug',
  },
  servicenow: { instanceUrl: 'https://shop.service-now.example.com', username: 'bot', password: 'servicenow-secret' },
  opsgenie: { apiKey: 'opsgenie-secret-key', apiBaseUrl: 'https://opsgenie.example.com' },
  slack: { webhookUrl: 'https://hooks.slack.example.com/services/T000000001/B000000002/slack-secret-token' },
  email: {
    host: '127.0.0.1',
    port: 2525,
    user: 'bot',
    password: 'smtp-secret',
    from: 'Logs <logs@example.com>',
    to: ['oncall@example.com'],
  },
} as const

/** The change of an opening that an escalation asks for. */
export const ESCALATION: StateChange = { actor: 'ada', at: '2026-11-21T03:17:00.000Z' }

/** The opening of the incident above; `overrides` replace parts, `fields` those of the target. */
export function buildRequest(
  platform: keyof typeof TARGET_FIELDS,
  overrides: Partial<Omit<TicketRequest, 'target' | 'content'>> & {
    readonly content?: Partial<TicketContent>
    readonly fields?: object
  } = {},
): TicketRequest {
  const { content, fields, ...rest } = overrides
  return {
    event: 'open',
    ticketKey: 'lp-7c1f9a52',
    eventKey: `lp-7c1f9a52-1-${rest.event ?? 'open'}`,
    mayBeThere: false,
    ...rest,
    target: { id: platform, platform, enabled: true, fields: { ...TARGET_FIELDS[platform], ...fields } },
    content: { ...CHECKOUT_INCIDENT, ...content },
  }
}
