/** The fields of each ticketing platform (Spec: Ticketing runtime configuration; Decisions 6). */

export interface PlatformFields {
  /** Only ever in a Secret. */
  readonly secret: readonly string[]
  /** Likewise, where one has them. */
  readonly optionalSecret: readonly string[]
  /** In `settings`, or in the Secret where one has them there. */
  readonly required: readonly string[]
  /** In `settings`. */
  readonly optional: readonly string[]
}

export const PLATFORMS = {
  pagerduty: { secret: ['routingKey'], optionalSecret: ['webhookSecret'], required: [], optional: ['apiBaseUrl'] },
  jira: {
    secret: ['apiToken'],
    optionalSecret: ['webhookSecret'],
    required: ['baseUrl', 'userEmail'],
    optional: [
      'projectKey',
      'issueType',
      'priorityCritical',
      'priorityHigh',
      'priorityMedium',
      'priorityLow',
      'acknowledgeTransition',
      'resolveTransition',
      'reopenTransition',
    ],
  },
  servicenow: {
    secret: ['password'],
    optionalSecret: [],
    required: ['instanceUrl', 'username'],
    optional: ['assignmentGroup', 'closeCode', 'category', 'callerId'],
  },
  opsgenie: {
    secret: ['apiKey'],
    optionalSecret: ['webhookSecret'],
    required: [],
    optional: ['apiBaseUrl', 'responders', 'escalation'],
  },
  slack: { secret: ['webhookUrl'], optionalSecret: [], required: [], optional: ['mention', 'escalationMention'] },
  email: {
    secret: [],
    optionalSecret: ['password'],
    required: ['host', 'port', 'from', 'to'],
    optional: ['user', 'secure', 'escalationTo'],
  },
} as const satisfies Readonly<Record<string, PlatformFields>>

/** Fields that come together or not at all. */
export const FIELD_PAIRS: Readonly<Partial<Record<PlatformName, readonly [string, string]>>> = { email: ['user', 'password'] }

export const PLATFORM_NAMES = Object.keys(PLATFORMS) as readonly PlatformName[] as readonly [PlatformName, ...PlatformName[]]
export type PlatformName = keyof typeof PLATFORMS

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]
