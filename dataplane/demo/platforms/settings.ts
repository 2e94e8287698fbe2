/** Credentials of the stubs, and the settings that make logpipeline call them (Spec: PATCH /api/v1/config/platforms, /routing). */
import { PLATFORM_NAMES, type PlatformName } from '../../contract/platforms.ts'

/** Invented keys, which open nothing but stubs. Integration keys of PagerDuty have 32 characters. */
export const DEMO = {
  pagerduty: { Shop: 'demo0shop0000000000000000000000k', Platform: 'demo0platform0000000000000000000' },
  jira: { userEmail: 'demo@example.com', apiToken: 'demo-token' },
  servicenow: { username: 'demo', password: 'demo-password' },
  opsgenie: { apiKey: 'demo-genie-key' },
  /** Any name in the place of the last part is a channel of its own. */
  slack: { path: '/services/T0DEMO/B0DEMO/incidents' },
  email: { user: 'demo', password: 'demo-password', from: 'logpipeline@example.com', to: ['oncall@example.com'] },
} as const

export interface StubAddresses {
  /** The page that lists all stubs. */
  readonly index: string
  readonly pagerduty: string
  readonly jira: string
  readonly servicenow: string
  readonly opsgenie: string
  readonly slack: string
  /** The page with the mails. */
  readonly email: string
  readonly smtp: { readonly host: string; readonly port: number }
}

/** The body of `PATCH /api/v1/config/platforms`. */
export function platformSettings(at: StubAddresses): Readonly<Record<PlatformName, Readonly<Record<string, unknown>>>> {
  return {
    pagerduty: { enabled: true, routingKey: DEMO.pagerduty.Shop, apiBaseUrl: at.pagerduty },
    jira: { enabled: true, baseUrl: at.jira, ...DEMO.jira, projectKey: 'OPS', issueType: 'Task' },
    servicenow: { enabled: true, instanceUrl: at.servicenow, ...DEMO.servicenow, closeCode: 'Solution provided' },
    opsgenie: { enabled: true, ...DEMO.opsgenie, apiBaseUrl: at.opsgenie },
    slack: { enabled: true, webhookUrl: `${at.slack}${DEMO.slack.path}` },
    email: { enabled: true, ...at.smtp, ...DEMO.email },
  }
}

/** The body of `PATCH /api/v1/config/routing`: for a trial every severity goes to every platform. */
export function routingSettings(): Readonly<Record<string, readonly PlatformName[]>> {
  return { critical: PLATFORM_NAMES, high: PLATFORM_NAMES, medium: PLATFORM_NAMES, low: ['slack', 'email'] }
}
