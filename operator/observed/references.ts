/** The Secrets that pipelines and routes refer to. */
import type { SettingName } from '../../dataplane/contract/env.ts'
import { PLATFORMS, type PlatformFields } from '../../dataplane/contract/platforms.ts'
import { type Component, isOffered, wantedComponents } from '../api/components.ts'
import type { CredentialsSource } from '../api/credentials.ts'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import type { TicketingRouteSpec } from '../api/ticketing-route.ts'
import { ownOf, type SecretsRead } from './gathered.ts'

/** One value that is wanted from a Secret. */
interface WantedKey {
  /** Setting of the data plane, or field of a platform. */
  readonly setting: string
  /** Keys that may hold it, the first that is there counts. */
  readonly keys: readonly string[]
  /** The reference is good without it. */
  readonly isOptional?: true
  /** The program does not know it, so that any value will do. */
  readonly isRaw?: true
}

/** A place in a resource that names a Secret. */
export interface Reference {
  /** Such as `spec.search.credentials`. */
  readonly path: string
  /** The field that holds the name of the Secret, where it is not called `name`. */
  readonly nameField?: string
  readonly source: { readonly secret: string } | { readonly externalSecret: string }
  readonly wanted: readonly WantedKey[]
  /** Each key is a value, whatever its name. */
  readonly takesAll?: true
  /** Components that cannot run without it. Files that a role reads again while it runs do not count. */
  readonly usedBy: readonly Component[]
  /** Names in `keys` that are no settings of this reference, as a message. */
  readonly misnamed?: string
}

export const BUS_USERS: readonly Component[] = ['collector', 'bridge', 'stream-etl', 'stream-score', 'agent']
const SEARCH_USERS: readonly Component[] = ['gateway', 'bridge', 'ticketing', 'agent', 'dashboard', 'scheduler', 'standalone']
const STORE_USERS: readonly Component[] = ['bridge', 'stream-etl', 'features', 'scheduler', 'standalone']

/** Settings whose usual key in a Secret is not called like them. */
const USUAL_KEYS: Readonly<Record<string, string>> = {
  BUS_USERNAME: 'username',
  BUS_PASSWORD: 'password',
  SEARCH_USERNAME: 'username',
  SEARCH_PASSWORD: 'password',
  ONLINE_STORE_URL: 'url',
  ONLINE_STORE_USERNAME: 'username',
  ONLINE_STORE_PASSWORD: 'password',
  BOOTSTRAP_KEY: 'apiKey',
  DASHBOARD_USERNAME: 'username',
  DASHBOARD_PASSWORD: 'password',
}

/** The references in the fields of a pipeline itself. */
export function pipelineReferences(spec: LogPipelineSpec): readonly Reference[] {
  const { bus, search, ticketing } = spec
  const { caSecret, clientSecret } = bus?.tls ?? {}
  const { certificateKey = 'tls.crt', privateKeyKey = 'tls.key' } = clientSecret ?? {}
  const saslSettings = bus?.sasl?.username === undefined ? ['BUS_USERNAME', 'BUS_PASSWORD'] : ['BUS_PASSWORD']
  return [
    ...ofKeys('spec.bus.tls.caSecret', caSecret, { BUS_CA_FILE: caSecret?.key ?? 'ca.crt' }, BUS_USERS),
    ...ofKeys('spec.bus.tls.clientSecret', clientSecret, { BUS_CERT_FILE: certificateKey, BUS_KEY_FILE: privateKeyKey }, BUS_USERS),
    ...ofCredentials('spec.bus.sasl.credentials', bus?.sasl?.credentials, saslSettings, BUS_USERS),
    ...ofCredentials('spec.search.credentials', search?.credentials, ['SEARCH_USERNAME', 'SEARCH_PASSWORD'], SEARCH_USERS),
    ...ofKeys('spec.search.caSecret', search?.caSecret, { SEARCH_CA_FILE: search?.caSecret?.key ?? 'ca.crt' }, SEARCH_USERS),
    ...onlineStoreReferences(spec),
    ...ofCredentials('spec.ticketing.encryptionKey', ticketing?.encryptionKey, ['ENCRYPTION_KEY'], ['ticketing', 'standalone']),
    ...ofCredentials('spec.ticketing.llm.credentials', ticketing?.llm?.credentials, ['apiKey'], []),
    ...gatewayReferences(spec),
    ...dashboardReferences(spec),
    ...podReferences(spec),
  ]
}

/** Beside a URL they are its password and, where there is one, its user name. */
function onlineStoreReferences({ features }: LogPipelineSpec): readonly Reference[] {
  const { url, credentials } = (features?.enabled && features.onlineStore) || {}
  const path = 'spec.features.onlineStore.credentials'
  return url === undefined
    ? ofCredentials(path, credentials, ['ONLINE_STORE_URL'], STORE_USERS)
    : ofCredentials(path, credentials, ['ONLINE_STORE_PASSWORD'], STORE_USERS, ['ONLINE_STORE_USERNAME'])
}

/** Secrets of `podTemplate`, which every pod needs. */
function podReferences(spec: LogPipelineSpec): readonly Reference[] {
  const { env = [], envFrom = [], volumes = [] } = spec.podTemplate ?? {}
  const whole = [
    ...envFrom.map(({ secretRef }, index) => [`envFrom[${index}].secretRef`, secretRef?.name] as const),
    ...volumes.map(({ secret }, index) => [`volumes[${index}].secret`, secret?.name] as const),
  ]
  const usedBy = wantedComponents(spec)
  const ofSecret = (place: string, secret: string | undefined, more: Pick<Reference, 'wanted' | 'takesAll'>): readonly Reference[] => {
    const path = `spec.podTemplate.${place}`
    return secret === undefined ? [] : [{ path, nameField: `${path}.name`, source: { secret }, usedBy, ...more }]
  }
  return [
    ...env.flatMap(({ name, valueFrom }, index) => {
      const { name: secret, key = '' } = valueFrom?.secretKeyRef ?? {}
      const wanted = [{ setting: podValueName(`env ${name}`), keys: [key], isRaw: true as const }]
      return ofSecret(`env[${index}].valueFrom.secretKeyRef`, secret, { wanted })
    }),
    ...whole.flatMap(([place, secret]) => ofSecret(place, secret, { wanted: [], takesAll: true })),
  ]
}

/** No setting is called so. */
const podValueName = (place: string) => `podTemplate ${place}`

/** Where there is no gateway nothing is asked of what it would use. */
function gatewayReferences(spec: LogPipelineSpec): readonly Reference[] {
  if (!isOffered(spec, 'gateway')) return []
  const { tls, bootstrapKey } = spec.gateway ?? {}
  const path = 'spec.gateway.tls'
  const keys = { TLS_CERT_FILE: 'tls.crt', TLS_KEY_FILE: 'tls.key' }
  const users = ['gateway', 'standalone'] as const
  return [
    ...ofKeys(path, tls && { name: tls.secretName }, keys, users).map(reference => ({ ...reference, nameField: `${path}.secretName` })),
    ...ofCredentials('spec.gateway.bootstrapKey', bootstrapKey, ['BOOTSTRAP_KEY'], users),
  ]
}

function dashboardReferences(spec: LogPipelineSpec): readonly Reference[] {
  if (!isOffered(spec, 'dashboard')) return []
  const users = ['dashboard', 'standalone'] as const
  return ofCredentials('spec.dashboard.credentials', spec.dashboard?.credentials, ['DASHBOARD_PASSWORD'], users, ['DASHBOARD_USERNAME'])
}

function ofCredentials(
  path: string,
  credentials: CredentialsSource | undefined,
  settings: readonly string[],
  usedBy: readonly Component[],
  optional: readonly string[] = [],
): readonly Reference[] {
  if (credentials === undefined) return []
  const { keys } = credentials
  const wanted = [...settings.map(setting => wantedKey(setting, keys)), ...optional.map(setting => optionalKey(setting, keys))]
  return [{ path, source: sourceOf(credentials), wanted, usedBy, ...findMisnamed(keys, [...settings, ...optional]) }]
}

/** The references of a field that names one Secret and the key for each setting. */
function ofKeys(
  path: string,
  secret: { readonly name: string } | undefined,
  keys: Readonly<Partial<Record<SettingName, string>>>,
  usedBy: readonly Component[],
): readonly Reference[] {
  if (secret === undefined) return []
  const wanted = Object.entries(keys).map(([setting, key]) => ({ setting, keys: [key] }))
  return [{ path, source: { secret: secret.name }, wanted, usedBy }]
}

/** The CRD sees to it that one of the two is there. */
function sourceOf({ secret, externalSecret }: CredentialsSource): Reference['source'] {
  return secret === undefined ? { externalSecret: externalSecret?.name ?? '' } : { secret: secret.name }
}

/** The fields of `settings` that hold something. An empty text, as templates write where a value is not given, is none. */
export function givenSettings({ settings = {} }: TicketingRouteSpec): NonNullable<TicketingRouteSpec['settings']> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''))
}

/** The reference of a route, if it has one: the secret fields of its platform, optional ones where they are there, and other fields that `settings` lacks. */
export function routeReferences(spec: TicketingRouteSpec): readonly Reference[] {
  const { platform, credentials } = spec
  if (credentials === undefined) return []
  const settings = givenSettings(spec)
  const { secret, optionalSecret, required, optional }: PlatformFields = PLATFORMS[platform]
  const isLacking = (field: string) => !Object.hasOwn(settings, field)
  const fields = [...secret, ...required.filter(isLacking)]
  const others = [...optionalSecret, ...optional.filter(isLacking)].map(field => ({
    ...wantedKey(field, credentials.keys),
    isOptional: true as const,
  }))
  return [
    {
      path: 'spec.credentials',
      source: sourceOf(credentials),
      wanted: [...fields.map(field => wantedKey(field, credentials.keys)), ...others],
      usedBy: [],
      ...findMisnamed(credentials.keys, [...secret, ...optionalSecret, ...required, ...optional]),
    },
  ]
}

function wantedKey(setting: string, keys: CredentialsSource['keys']): WantedKey {
  const named = namedKey(setting, keys)
  return { setting, keys: named === undefined ? [setting, USUAL_KEYS[setting] ?? []].flat() : [named] }
}

/** One that `keys` names has to be there: without it, another user would be asked for than is meant. */
function optionalKey(setting: string, keys: CredentialsSource['keys']): WantedKey {
  const wanted = wantedKey(setting, keys)
  return namedKey(setting, keys) === undefined ? { ...wanted, isOptional: true } : wanted
}

/** `keys` may call a setting by its own name, or by its usual key. */
function namedKey(setting: string, keys: CredentialsSource['keys'] = {}): string | undefined {
  const usual = USUAL_KEYS[setting]
  return keys[setting] ?? (usual === undefined ? undefined : keys[usual])
}

function findMisnamed(keys: CredentialsSource['keys'] = {}, settings: readonly string[]): Pick<Reference, 'misnamed'> {
  const known = settings.flatMap(setting => [setting, USUAL_KEYS[setting]])
  const unknown = Object.keys(keys).filter(name => !known.includes(name))
  return unknown.length === 0 ? {} : { misnamed: `expected ${settings.join(', ')}, seen ${unknown.join(', ')}` }
}

export function externalNames(references: readonly Reference[]): readonly string[] {
  return [...new Set(references.flatMap(({ source }) => ('externalSecret' in source ? [source.externalSecret] : [])))]
}

/** Among the keys that are wanted of a Secret: every other, too. No key of a Secret is called so. */
export const ALL_KEYS = '*'

/** Name of a Secret → the keys that may be wanted of it. */
export type WantedSecrets = ReadonlyMap<string, ReadonlySet<string>>

/** The Secrets that have to be read for references; one behind an ExternalSecret once its name is known. */
export function wantedSecrets(references: readonly Reference[], externalSecrets: SecretsRead['externalSecrets']): WantedSecrets {
  const wanted = new Map<string, Set<string>>()
  for (const { source, wanted: settings, takesAll } of references) {
    const name = 'secret' in source ? source.secret : targetOf(source.externalSecret, externalSecrets)
    if (name === undefined) continue
    const keys = wanted.get(name) ?? new Set()
    for (const key of settings.flatMap(({ keys }) => keys)) keys.add(key)
    if (takesAll) keys.add(ALL_KEYS)
    wanted.set(name, keys)
  }
  return wanted
}

/** Name of the Secret behind an ExternalSecret. */
export function targetOf(name: string, externalSecrets: SecretsRead['externalSecrets']): string | undefined {
  const found = ownOf(externalSecrets, name)
  return found && (found.status?.binding?.name || found.spec?.target?.name || found.metadata.name)
}
