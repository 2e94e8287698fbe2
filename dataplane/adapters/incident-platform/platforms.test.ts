import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { PLATFORM_NAMES, type PlatformName } from '../../contract/platforms.ts'
import { platformSettings } from '../../demo/platforms/settings.ts'
import { startStubPlatforms } from '../../demo/platforms/start.ts'
import { createOutboundAddresses } from '../outbound-http/outbound-addresses.ts'
import { createOutboundHttp } from '../outbound-http/outbound-http.ts'
import { eventReference } from './event-reference.ts'
import { listAt, textAt } from './json-at.ts'
import { createIncidentPlatforms } from './platforms.ts'
import { buildRequest } from './testing/checkout-incident.ts'
import { describeIncidentPlatform, type PlatformUnderTest, type ServerFault, type SuiteConfig } from './testing/incident-platform-suite.ts'
import { createRunningClock } from './testing/running-clock.ts'
import { sendPatiently } from './testing/send-patiently.ts'

/** Where the state of each stub has its tickets. */
const TICKETS = {
  pagerduty: 'incidents',
  jira: 'issues',
  servicenow: 'incidents',
  opsgenie: 'alerts',
  slack: 'messages',
  email: 'threads',
} as const

const REST_MS = 3_000

interface StubUnderTest {
  readonly statusOf?: (ticket: unknown) => string | undefined
  readonly wrong: object
}

async function start(name: PlatformName, { statusOf = () => undefined, wrong }: StubUnderTest): Promise<PlatformUnderTest> {
  const clock = createRunningClock(Date.now())
  const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0, clock })
  const outbound = createOutboundHttp({ allowPrivate: true })
  const platforms = createIncidentPlatforms({ outbound, addresses: createOutboundAddresses({ allowPrivate: true }), clock })
  const tickets = () => listAt(stubs.state(name), TICKETS[name])
  return {
    platform: platforms[name],
    fields: platformSettings(stubs.addresses)[name],
    wrong: name === 'slack' ? { webhookUrl: `${stubs.addresses.slack}/services/T0WRONG/B0WRONG/wrong-token` } : wrong,
    rest: (ms = REST_MS) => clock.advance(ms),
    fault: fault => stubs.fault(name, faultOf(name, fault)),
    tickets,
    status: () => statusOf(tickets()[0]),
    async stop() {
      await platforms.close()
      await outbound.close()
      await stubs.stop()
    },
  }
}

function faultOf(name: PlatformName, fault: ServerFault) {
  if (fault.kind !== 'failure') return fault
  return { kind: 'status', status: name === 'email' ? 451 : 500 } as const
}

const ONCE = { isOnce: true, hasReferences: true, ticketsOfTest: 0, hasRetryAfter: true } as const
const PLATFORMS: readonly (Omit<SuiteConfig, 'start'> & StubUnderTest)[] = [
  {
    ...ONCE,
    name: 'pagerduty',
    hasReferences: false,
    takesComments: false,
    statuses: { open: 'triggered', acknowledge: 'acknowledged', resolve: 'resolved', reopen: 'triggered' },
    statusOf: incident => textAt(incident, 'status'),
    wrong: { routingKey: 'wrong0123456789wrong0123456789wr' },
  },
  {
    ...ONCE,
    name: 'jira',
    statuses: { open: 'new', acknowledge: 'indeterminate', escalate: 'indeterminate', resolve: 'done', reopen: 'new' },
    statusOf: issue => textAt(issue, 'fields', 'status', 'statusCategory', 'key'),
    wrong: { apiToken: 'wrong-token' },
  },
  {
    ...ONCE,
    name: 'servicenow',
    statuses: { open: '1', acknowledge: '2', escalate: '2', resolve: '6', reopen: '2' },
    statusOf: record => textAt(record, 'state'),
    wrong: { password: 'wrong-password' },
  },
  {
    ...ONCE,
    name: 'opsgenie',
    statuses: { open: 'open', resolve: 'closed', reopen: 'open' },
    statusOf: alert => textAt(alert, 'status'),
    wrong: { apiKey: 'wrong-genie-key' },
  },
  {
    ...ONCE,
    name: 'slack',
    isOnce: false,
    hasReferences: false,
    ticketsOfTest: 1,
    wrong: {},
  },
  { ...ONCE, name: 'email', hasReferences: false, hasRetryAfter: false, wrong: { password: 'wrong-password' } },
]

it('every ticket platform has a row for the suite of all platforms', () =>
  expect(PLATFORMS.map(({ name }) => name)).to.have.members(PLATFORM_NAMES))

for (const platform of PLATFORMS) describeIncidentPlatform({ ...platform, start: () => start(platform.name, platform) })

describe('a ticket with many long comments', () => {
  const REMARK = 'x'.repeat(24_000)
  const others = Array.from({ length: 19 }, () => REMARK)
  const answers = {
    jira: (reference: string) => ({ comments: [...others, reference] }),
    servicenow: (reference: string) => ({
      result: [{ sys_id: 's', state: { value: '2' }, work_notes: { display_value: `${others}${reference}` } }],
    }),
    opsgenie: (reference: string) => ({ data: [...others, reference] }),
  }
  for (const [name, answer] of Object.entries(answers))
    it(`is told once by ${name} when the answer got lost`, async () => {
      const methods: string[] = []
      const request = buildRequest(name as keyof typeof answers, {
        event: 'comment',
        mayBeThere: true,
        ticket: { externalId: 'OPS-17', memory: { severity: 'critical', sysId: 's' } },
      })
      const server = createServer(({ method = '' }, response) => {
        methods.push(method)
        response.end(JSON.stringify(answer(eventReference(request))))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const outbound = createOutboundHttp({ allowPrivate: true })
      const addresses = createOutboundAddresses({ allowPrivate: true })
      const platforms = createIncidentPlatforms({ outbound, addresses, clock: createRunningClock() })
      try {
        const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        const fields = { ...request.target.fields, baseUrl: root, instanceUrl: root, apiBaseUrl: root }
        const target = { ...request.target, fields }
        const platform = platforms[name as keyof typeof answers]
        expect(await platform.send({ ...request, target }, new AbortController().signal)).to.include({ kind: 'delivered' })
        expect(methods).to.deep.equal(['GET'])
      } finally {
        await platforms.close()
        await outbound.close()
        server.close()
      }
    })
})

describe('Jira, whose search learns of an issue 40 s late', () => {
  it('has one issue when the answer to the create got lost', async () => {
    const clock = createRunningClock(Date.now())
    const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0, clock })
    const outbound = createOutboundHttp({ allowPrivate: true })
    const platforms = createIncidentPlatforms({ outbound, addresses: createOutboundAddresses({ allowPrivate: true }), clock })
    try {
      stubs.fault('jira', { kind: 'own', name: 'search-lag', value: 40_000 })
      stubs.fault('jira', { kind: 'reset', afterAccepting: true, on: 'POST /rest/api/3/issue' })
      const request = buildRequest('jira', { fields: { ...platformSettings(stubs.addresses).jira, issueType: 'Task' } })
      const signal = new AbortController().signal
      expect(await platforms.jira.send(request, signal)).to.include({ kind: 'retryable', isAmbiguous: true, isUnanswered: true })
      clock.advance(REST_MS)
      const again = { ...request, mayBeThere: true, unansweredForMs: REST_MS }
      expect(await sendPatiently(platforms.jira, again, clock.advance)).to.include({ kind: 'delivered' })
      expect(listAt(stubs.state('jira'), TICKETS.jira)).to.have.length(1)
    } finally {
      await platforms.close()
      await outbound.close()
      await stubs.stop()
    }
  })
})
