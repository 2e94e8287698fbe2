/** The fields of each ticketing platform (Spec: Ticketing runtime configuration; Decisions 6). */

export interface PlatformFields {
  /** Only ever in a Secret. */
  readonly secret: readonly string[]
  /** In `settings`, or in the Secret where one has them there. */
  readonly required: readonly string[]
  /** In `settings`. */
  readonly optional: readonly string[]
}

export const PLATFORMS = {
  pagerduty: { secret: ['routingKey'], required: [], optional: ['apiBaseUrl'] },
  jira: { secret: ['apiToken'], required: ['baseUrl', 'userEmail'], optional: ['projectKey', 'issueType'] },
  servicenow: { secret: ['password'], required: ['instanceUrl', 'username'], optional: ['assignmentGroup', 'closeCode'] },
  opsgenie: { secret: ['apiKey'], required: [], optional: ['apiBaseUrl'] },
  slack: { secret: ['webhookUrl'], required: [], optional: [] },
  email: { secret: ['password'], required: ['host', 'port', 'user', 'from', 'to'], optional: [] },
} as const satisfies Readonly<Record<string, PlatformFields>>

export const PLATFORM_NAMES = Object.keys(PLATFORMS) as readonly PlatformName[] as readonly [PlatformName, ...PlatformName[]]
export type PlatformName = keyof typeof PLATFORMS

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]
