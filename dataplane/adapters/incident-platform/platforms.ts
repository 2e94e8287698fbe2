import type { Clock } from '../../ports/clock.ts'
import type { IncidentPlatforms } from '../../ports/incident-platform.ts'
import type { OutboundAddresses } from '../../ports/outbound-addresses.ts'
import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { createEmail } from './email/email.ts'
import { createHttpPlatform } from './http-platform.ts'
import { jira } from './jira.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerduty } from './pagerduty.ts'
import { servicenow } from './servicenow.ts'
import { slack } from './slack.ts'

export interface IncidentPlatformsDeps {
  /** The caller that made it closes it. */
  readonly outbound: OutboundHttp
  /** For mail servers. */
  readonly addresses: OutboundAddresses
  readonly clock: Clock
}

export function createIncidentPlatforms({ outbound, addresses, clock }: IncidentPlatformsDeps): IncidentPlatforms {
  const http = { outbound, clock }
  const email = createEmail({ addresses })
  return {
    pagerduty: createHttpPlatform(pagerduty, http),
    jira: createHttpPlatform(jira, http),
    servicenow: createHttpPlatform(servicenow, http),
    opsgenie: createHttpPlatform(opsgenie, http),
    slack: createHttpPlatform(slack, http),
    email,
    close: async () => email.close(),
  }
}
