/** The custom resource `TicketingRoute`, once: types, schema and rules of the CRD are made from it. */
import { z } from 'zod'
import { PLATFORM_NAMES, PLATFORMS, type PlatformName, SEVERITIES } from '../../dataplane/contract/platforms.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { credentials } from './credentials.ts'
import { annotated, type CelRule, described, PORT_PATTERN } from './schema.ts'
import type { TicketingRouteStatus } from './status.ts'

const SETTING = annotated(z.union([z.int(), z.string().max(2_048)]), {
  description: 'Value of the field.',
  'x-kubernetes-int-or-string': true,
})

interface FieldForm {
  readonly fields: readonly string[]
  /** In CEL, of the value `it`. An empty text counts as not given. */
  readonly text: string
  /** Likewise, of a number. Default: it is no number. */
  readonly number?: string
  readonly expected: string
}

/** Forms as a PATCH of the ticketing configuration asks for them, as far as CEL can tell; `observed/routes/route-settings.ts` looks at the whole. */
const FORMS: readonly FieldForm[] = [
  {
    fields: ['apiBaseUrl', 'baseUrl', 'instanceUrl'],
    text: "it.matches(r'^https?[:][/][/][^/?#@]+([/?][^#]*)?$')",
    expected: 'a URL such as https://example.com, without user name and fragment',
  },
  {
    fields: ['port'],
    text: `it.matches(r'^0*${PORT_PATTERN}$')`,
    number: 'it >= 1 && it <= 65535',
    expected: 'a port number from 1 to 65535',
  },
  { fields: ['secure'], text: "it in ['true', 'false']", expected: 'true or false, as a text' },
  { fields: ['from'], text: "it.contains('@')", expected: 'an e-mail address' },
  { fields: ['to', 'escalationTo'], text: "it.contains('@')", expected: 'an e-mail address, or several with commas between' },
]

function formRules({ fields, text, number = 'false', expected }: FieldForm): readonly CelRule[] {
  return fields.map(field => {
    const value = `self['${field}']`
    const of = (rule: string) => rule.replaceAll(/\bit\b/g, value)
    const isSound = `(type(${value}) == string ? ${value} == '' || ${of(text)} : ${of(number)})`
    return { rule: `!('${field}' in self) || ${isSound}`, message: `${field}: expected ${expected}` }
  })
}

const GLOB = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[^\s]+$/)

const list = (names: readonly string[]) => `[${names.map(name => `'${name}'`).join(', ')}]`

const needsSecret = (platform: PlatformName) => PLATFORMS[platform].secret.length > 0

/** Rules of `settings` for one platform: allowed, required and refused fields. */
function platformRules(platform: PlatformName): readonly CelRule[] {
  const { required, optional, ...secrets } = PLATFORMS[platform]
  const secret = [...secrets.secret, ...secrets.optionalSecret]
  const other = `self.platform != '${platform}' || `
  const known = [...required, ...optional]
  const settings = 'has(self.settings)'
  return [
    {
      rule: `${other}!${settings} || !self.settings.exists(name, name in ${list(secret)})`,
      message: `${platform}: expected ${secret.join(', ')} in the Secret that credentials name, not in settings`,
      fieldPath: '.settings',
    },
    {
      rule: `${other}!${settings} || self.settings.all(name, name in ${list([...known, ...secret])})`,
      message: `${platform}: expected no settings other than ${known.join(', ') || 'none'}`,
      fieldPath: '.settings',
    },
  ]
}

export const TICKETING_ROUTE_SPEC = described(
  z.object({
    severities: annotated(z.array(z.enum(SEVERITIES)).min(1).max(4), {
      description: 'Severities of the incidents that are sent.',
      'x-kubernetes-list-type': 'set',
    }),
    services: described(
      z.array(GLOB).min(1).max(64),
      'Services of the incidents that are sent, with * for any characters and ? for one; all when not given.',
    ).optional(),
    platform: described(z.enum(PLATFORM_NAMES), 'Where incidents are sent.'),
    settings: described(
      z.record(z.string(), SETTING).meta({ maxProperties: 16 }),
      'Fields of the platform that are no secrets.',
      ...FORMS.flatMap(formRules),
    ).optional(),
    credentials: credentials(
      'The secret fields of the platform, and others where one has them there. A mail server that asks for no password needs none.',
    ).optional(),
    escalation: described(z.boolean().default(false), 'Used on escalate only.'),
    enabled: described(z.boolean().default(true), 'Whether incidents are sent.'),
  }),
  'Which incidents go where.',
  {
    rule: `has(self.credentials) || !(self.platform in ${list(PLATFORM_NAMES.filter(needsSecret))})`,
    message: 'expected credentials, since the platform has a secret field',
  },
  ...PLATFORM_NAMES.flatMap(platformRules),
)
export type TicketingRouteSpec = z.output<typeof TICKETING_ROUTE_SPEC>

export const TICKETING_ROUTE_KIND = 'TicketingRoute'

export interface TicketingRoute extends KubernetesObject {
  readonly spec: TicketingRouteSpec
  readonly status?: TicketingRouteStatus
  /** Why `spec` cannot be used, field by field; it then asks for nothing. */
  readonly problems?: readonly string[]
}
