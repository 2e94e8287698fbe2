/** Forms for the targets of tickets, made from the list of each platform's fields: what is shown, what is wrong, what is sent. */
import { FIELD_PAIRS, PLATFORMS, type PlatformFields, type PlatformName } from '../../../../contract/platforms.ts'
import { parseTargetId } from '../../../../contract/target-id.ts'
import { fieldNames, MASK, parseField, requiredFields, secretFields } from '../../../../domain/tickets/platform-field.ts'

export type FieldKind = 'text' | 'url' | 'port' | 'flag' | 'list' | 'secret'

export interface FormField {
  readonly name: string
  readonly label: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  readonly placeholder?: string
  readonly hint?: string
}

interface FieldWords {
  readonly label: string
  readonly kind?: FieldKind
  readonly placeholder?: string
  readonly hint?: string
}

export const PLATFORM_TITLES: Readonly<Record<PlatformName, string>> = {
  pagerduty: 'PagerDuty',
  jira: 'Jira',
  servicenow: 'ServiceNow',
  opsgenie: 'Opsgenie',
  slack: 'Slack',
  email: 'E-mail',
}

/** A field without words of its own is shown under its name. */
const WORDS: ReadonlyMap<string, FieldWords> = new Map(
  Object.entries<FieldWords>({
    routingKey: { label: 'Routing key', hint: 'Integration key of an Events API v2 integration.' },
    apiToken: { label: 'API token', hint: 'Of that user.' },
    webhookSecret: { label: 'Webhook secret', hint: 'Proves that what comes back from the platform is from it.' },
    password: { label: 'Password' },
    apiKey: { label: 'API key' },
    webhookUrl: { label: 'Webhook URL', placeholder: 'https://hooks.slack.com/services/…', hint: 'Kept secret: it lets anybody post.' },
    baseUrl: { label: 'Base URL', kind: 'url', placeholder: 'https://example.atlassian.net' },
    instanceUrl: { label: 'Instance URL', kind: 'url', placeholder: 'https://example.service-now.com' },
    apiBaseUrl: { label: 'API base URL', kind: 'url', hint: 'The root, without /v2. Empty: the public cloud.' },
    userEmail: { label: 'User e-mail', placeholder: 'bot@example.com' },
    username: { label: 'User name' },
    projectKey: { label: 'Project key', placeholder: 'OPS' },
    issueType: { label: 'Issue type', placeholder: 'Bug' },
    priorityCritical: { label: 'Priority of critical', placeholder: 'Highest' },
    priorityHigh: { label: 'Priority of high', placeholder: 'High' },
    priorityMedium: { label: 'Priority of medium', placeholder: 'Medium' },
    priorityLow: { label: 'Priority of low', placeholder: 'Low' },
    acknowledgeTransition: { label: 'Transition on acknowledge' },
    resolveTransition: { label: 'Transition on resolve' },
    reopenTransition: { label: 'Transition on reopen' },
    assignmentGroup: { label: 'Assignment group' },
    closeCode: { label: 'Close code' },
    category: { label: 'Category' },
    callerId: { label: 'Caller' },
    responders: { label: 'Responders', kind: 'list', hint: 'With commas between.' },
    escalation: { label: 'Escalation' },
    mention: { label: 'Mention', placeholder: '@here' },
    escalationMention: { label: 'Mention on escalate', placeholder: '@channel' },
    host: { label: 'SMTP host', placeholder: 'smtp.example.com' },
    port: { label: 'SMTP port', kind: 'port', placeholder: '587' },
    secure: { label: 'TLS from the start', kind: 'flag', hint: 'Off: STARTTLS where the server offers it.' },
    from: { label: 'From', placeholder: 'alerts@example.com' },
    to: { label: 'To', kind: 'list', placeholder: 'oncall@example.com', hint: 'With commas between.' },
    escalationTo: { label: 'To, on escalate', kind: 'list', hint: 'With commas between.' },
    user: { label: 'SMTP user', hint: 'Together with the password, or neither.' },
  }),
)

/** Required ones first. */
export function formFields(platform: PlatformName): readonly FormField[] {
  const required = requiredFields(platform)
  const { required: plain }: PlatformFields = PLATFORMS[platform]
  const rest = fieldNames(platform).filter(name => !required.includes(name))
  return [...plain, ...required.filter(name => !plain.includes(name)), ...rest].map(name => {
    const { label = name, kind = 'text', placeholder, hint }: FieldWords = WORDS.get(name) ?? { label: name }
    return {
      ...{ name, label, isRequired: required.includes(name) },
      kind: secretFields(platform).includes(name) ? 'secret' : kind,
      ...(placeholder !== undefined && { placeholder }),
      ...(hint !== undefined && { hint }),
    }
  })
}

/** A target, as the API shows it: `enabled`, its fields, `****` for each secret. */
export type ShownTarget = Readonly<Record<string, unknown>>

export interface TargetForm {
  readonly enabled: boolean
  /** Text of each field; of a secret only what was typed. */
  readonly values: Readonly<Record<string, string>>
  /** Secrets that are stored and stay as they are unless something is typed. */
  readonly kept: readonly string[]
}

export function openForm(platform: PlatformName, stored: ShownTarget = {}): TargetForm {
  const secret = secretFields(platform)
  const values = Object.fromEntries(fieldNames(platform).map(name => [name, secret.includes(name) ? '' : textOf(stored[name])]))
  return { enabled: stored['enabled'] !== false, values, kept: secret.filter(name => stored[name] === MASK) }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

export const setValue = (form: TargetForm, name: string, value: string): TargetForm => ({
  ...form,
  values: { ...form.values, [name]: value },
})

/** A stored secret is to go. */
export const forgetSecret = (form: TargetForm, name: string): TargetForm => ({ ...form, kept: form.kept.filter(kept => kept !== name) })

/** Problems by field, in the words of the ticketing agent; what it alone can know, such as whether plain http is allowed, is left to it. */
export function formProblems(platform: PlatformName, form: TargetForm): Readonly<Record<string, string>> {
  const problems: Record<string, string> = {}
  const isThere = (name: string) => (form.values[name] ?? '').trim() !== '' || form.kept.includes(name)
  for (const { name, kind, isRequired, label } of formFields(platform)) {
    const text = (form.values[name] ?? '').trim()
    if (text === '') {
      if (isRequired && !isThere(name)) problems[name] = `${label} is needed`
      continue
    }
    const parsed = parseField(name, readValue(kind, text), { allowsPlainHttp: true })
    if (!parsed.ok) problems[name] = `Expected ${parsed.expected}`
  }
  const [one, other] = FIELD_PAIRS[platform] ?? []
  if (one !== undefined && other !== undefined && isThere(one) !== isThere(other))
    problems[isThere(one) ? other : one] ??= `Needed together with ${WORDS.get(isThere(one) ? one : other)?.label ?? one}`
  return problems
}

/** The fields as the API takes them: `****` keeps a secret, null removes what was there. For `test-connection` and PATCH alike. */
export function formChange(platform: PlatformName, form: TargetForm, stored: ShownTarget = {}): Readonly<Record<string, unknown>> {
  const change: Record<string, unknown> = { enabled: form.enabled }
  for (const { name, kind } of formFields(platform)) {
    const text = (form.values[name] ?? '').trim()
    if (text !== '') change[name] = readValue(kind, text)
    else if (form.kept.includes(name)) change[name] = MASK
    else if (stored[name] !== undefined) change[name] = null
  }
  return change
}

/** The fields of a change that differ from the target as the form found it: what somebody else stores meanwhile stays. */
export function editedFields(
  platform: PlatformName,
  change: Readonly<Record<string, unknown>>,
  found: ShownTarget | undefined,
): Readonly<Record<string, unknown>> {
  if (found === undefined) return change
  const before = formChange(platform, openForm(platform, found), found)
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}

function readValue(kind: FieldKind, text: string): unknown {
  switch (kind) {
    case 'port':
      return /^\d+$/.test(text) ? Number(text) : text
    case 'flag':
      return text === 'true'
    case 'list': {
      const items = text.split(',').flatMap(item => item.trim() || [])
      return items.length === 1 ? items[0] : items
    }
    default:
      return text
  }
}

/** Whether there is anything to save. */
export function isChanged(platform: PlatformName, form: TargetForm, stored: ShownTarget | undefined): boolean {
  if (stored === undefined) return true
  const fresh = openForm(platform, stored)
  const same = fieldNames(platform).every(name => (fresh.values[name] ?? '') === (form.values[name] ?? ''))
  return !same || fresh.enabled !== form.enabled || fresh.kept.length !== form.kept.length
}

/** Why a name for another target of a platform cannot be used; undefined when it can. An empty one is the platform's own. */
export function nameProblem(platform: PlatformName, name: string, taken: readonly string[]): string | undefined {
  const id = targetIdOf(platform, name)
  if (parseTargetId(id) === undefined) return '1 to 40 of a-z, 0-9 and -, such as payments'
  return taken.includes(id) ? `${id} is there already` : undefined
}

export function targetIdOf(platform: PlatformName, name: string): string {
  return name.trim() === '' ? platform : `${platform}:${name.trim()}`
}

/** `Slack` or `Slack · payments`. */
export function titleOfTarget(id: string): string {
  const parts = parseTargetId(id)
  if (parts === undefined) return id
  return parts.name === undefined ? PLATFORM_TITLES[parts.platform] : `${PLATFORM_TITLES[parts.platform]} · ${parts.name}`
}
