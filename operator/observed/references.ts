/** The Secrets that a pipeline refers to, and what became of each reference. */
import { SETTINGS, type SettingName } from '../../dataplane/contract/env.ts'
import type { Component } from '../api/components.ts'
import type { Credentials } from '../api/credentials.ts'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { PLATFORMS } from '../api/platforms.ts'
import type { TicketingRouteSpec } from '../api/ticketing-route.ts'
import type { ForeignCondition } from './foreign-kinds.ts'
import type { Gathered } from './gathered.ts'
import { isServed } from './gathered.ts'

type SecretsRead = Pick<Gathered, 'secrets' | 'externalSecrets' | 'servedApis'>

/** One value that is wanted from a Secret. */
interface WantedKey {
  /** Setting of the data plane, or field of a platform. */
  readonly setting: string
  /** Keys that may hold it, the first that is there counts. */
  readonly keys: readonly string[]
  readonly isOptional?: true
}

/** A place in a resource that names a Secret. */
export interface Reference {
  /** Such as `spec.search.credentials`. */
  readonly path: string
  readonly source: { readonly secret: string } | { readonly externalSecret: string }
  readonly wanted: readonly WantedKey[]
  /** Components that cannot run without it. */
  readonly usedBy: readonly Component[]
  /** What `keys` says of settings that there are none of here. */
  readonly misnamed?: string
}

/** A value that is there: `key` of `secret`, and its content in base64. */
export interface SecretValue {
  readonly setting: string
  readonly secret: string
  readonly key: string
  readonly base64: string
}

export type ReferenceProblemReason = 'MissingSecret' | 'SecretNotSynced' | 'InvalidSecret'

export interface ReferenceProblem {
  readonly reason: ReferenceProblemReason
  /** Names the field, what was expected, what was seen. */
  readonly message: string
}

/** `values` is undefined when the reference cannot be used; a `problem` beside values is one that does not keep it from being used. */
export interface ResolvedReference {
  readonly reference: Reference
  readonly values?: readonly SecretValue[]
  readonly problem?: ReferenceProblem
}

const BUS_USERS: readonly Component[] = ['collector', 'bridge', 'stream-etl', 'stream-score', 'agent']
const SEARCH_USERS: readonly Component[] = ['bridge', 'ticketing', 'agent', 'scheduler', 'standalone']
const STORE_USERS: readonly Component[] = ['bridge', 'stream-etl', 'features', 'scheduler', 'standalone']

/** Settings whose usual key in a Secret is not called like them. */
const USUAL_KEYS: Readonly<Record<string, string>> = {
  BUS_USERNAME: 'username',
  BUS_PASSWORD: 'password',
  SEARCH_USERNAME: 'username',
  SEARCH_PASSWORD: 'password',
  ONLINE_STORE_URL: 'url',
}

/** All that a pipeline's own fields refer to. */
export function pipelineReferences({ bus, search, features, ticketing }: LogPipelineSpec): readonly Reference[] {
  const references: Reference[] = []
  const add = (path: string, { secret, externalSecret, keys }: Credentials, settings: readonly string[], usedBy: readonly Component[]) => {
    const source = secret === undefined ? { externalSecret: externalSecret?.name ?? '' } : { secret: secret.name }
    references.push({ path, source, wanted: settings.map(setting => wantedKey(setting, keys)), usedBy, ...findMisnamed(keys, settings) })
  }
  const addKeys = (path: string, name: string, keys: Readonly<Partial<Record<SettingName, string>>>, usedBy: readonly Component[]) => {
    const wanted = Object.entries(keys).map(([setting, key]) => ({ setting, keys: [key] }))
    references.push({ path, source: { secret: name }, wanted, usedBy })
  }
  const { caSecret, clientSecret } = bus?.tls ?? {}
  if (caSecret) addKeys('spec.bus.tls.caSecret', caSecret.name, { BUS_CA_FILE: caSecret.key ?? 'ca.crt' }, BUS_USERS)
  if (clientSecret) {
    const { name, certificateKey = 'tls.crt', privateKeyKey = 'tls.key' } = clientSecret
    addKeys('spec.bus.tls.clientSecret', name, { BUS_CERT_FILE: certificateKey, BUS_KEY_FILE: privateKeyKey }, BUS_USERS)
  }
  if (bus?.sasl) {
    const settings = bus.sasl.username === undefined ? ['BUS_USERNAME', 'BUS_PASSWORD'] : ['BUS_PASSWORD']
    add('spec.bus.sasl.credentials', bus.sasl.credentials, settings, BUS_USERS)
  }
  if (search?.credentials) add('spec.search.credentials', search.credentials, ['SEARCH_USERNAME', 'SEARCH_PASSWORD'], SEARCH_USERS)
  if (search?.caSecret)
    addKeys('spec.search.caSecret', search.caSecret.name, { SEARCH_CA_FILE: search.caSecret.key ?? 'ca.crt' }, SEARCH_USERS)
  const store = features?.onlineStore?.credentials
  if (store) add('spec.features.onlineStore.credentials', store, ['ONLINE_STORE_URL'], STORE_USERS)
  const llm = ticketing?.llm?.credentials
  if (llm) add('spec.ticketing.llm.credentials', llm, ['apiKey'], ['ticketing', 'standalone'])
  return references
}

/** What a route refers to: the secret fields of its platform, and required ones that `settings` lacks. */
export function routeReference({ platform, credentials, settings = {} }: TicketingRouteSpec): Reference {
  const { secret, required } = PLATFORMS[platform]
  const fields = [...secret, ...required.filter(field => settings[field] === undefined)]
  return {
    path: 'spec.credentials',
    source:
      credentials.secret === undefined ? { externalSecret: credentials.externalSecret?.name ?? '' } : { secret: credentials.secret.name },
    wanted: fields.map(field => wantedKey(field, credentials.keys)),
    usedBy: [],
    ...findMisnamed(credentials.keys, [...secret, ...required]),
  }
}

/** `keys` may call a setting by its own name, or by its usual key. */
function wantedKey(setting: string, keys: Credentials['keys'] = {}): WantedKey {
  const usual = USUAL_KEYS[setting]
  const named = keys[setting] ?? (usual === undefined ? undefined : keys[usual])
  if (named !== undefined) return { setting, keys: [named] }
  return { setting, keys: usual === undefined ? [setting] : [setting, usual] }
}

function findMisnamed(keys: Credentials['keys'] = {}, settings: readonly string[]): Pick<Reference, 'misnamed'> {
  const known = settings.flatMap(setting => [setting, USUAL_KEYS[setting]])
  const unknown = Object.keys(keys).filter(name => !known.includes(name))
  return unknown.length === 0 ? {} : { misnamed: `expected ${settings.join(', ')}, seen ${unknown.join(', ')}` }
}

/** Names of the Secrets and ExternalSecrets that have to be read for references; a Secret behind an ExternalSecret once that is known. */
export function referencedSecrets(
  references: readonly Reference[],
  externalSecrets: Gathered['externalSecrets'],
): { readonly secrets: readonly string[]; readonly externalSecrets: readonly string[] } {
  const external = references.flatMap(({ source }) => ('externalSecret' in source ? [source.externalSecret] : []))
  const direct = references.flatMap(({ source }) => ('secret' in source ? [source.secret] : []))
  const targets = external.flatMap(name => targetOf(name, externalSecrets) ?? [])
  return { secrets: [...new Set([...direct, ...targets])].sort(), externalSecrets: [...new Set(external)].sort() }
}

function targetOf(name: string, externalSecrets: Gathered['externalSecrets']): string | undefined {
  const found = externalSecrets[name]
  return found && (found.status?.binding?.name || found.spec?.target?.name || found.metadata.name)
}

export function resolveReference(reference: Reference, read: SecretsRead): ResolvedReference {
  const { source, path, misnamed } = reference
  if (misnamed !== undefined) return { reference, problem: { reason: 'InvalidSecret', message: `${path}.keys: ${misnamed}` } }
  if ('secret' in source) return resolveSecret(reference, source.secret, `${path}.name`, read)
  const name = source.externalSecret
  const external = read.externalSecrets[name]
  if (external === undefined) {
    const message = isServed(read, 'ExternalSecret.external-secrets.io')
      ? `${path}.externalSecret.name: expected an ExternalSecret ${name}, found none`
      : `${path}.externalSecret: expected the External Secrets operator, found no ExternalSecret API in this cluster`
    return { reference, problem: { reason: 'MissingSecret', message } }
  }
  const ready = external.status?.conditions?.find(({ type }) => type === 'Ready')
  const resolved = resolveSecret(reference, targetOf(name, read.externalSecrets)!, `${path}.externalSecret.name`, read)
  if (ready?.status === 'True') return resolved
  return { ...resolved, problem: { reason: 'SecretNotSynced', message: notSynced(path, name, ready) } }
}

function notSynced(path: string, name: string, ready: ForeignCondition | undefined): string {
  const said = ready === undefined ? 'no status yet' : [ready.reason, ready.message].filter(Boolean).join(': ') || ready.status
  return `${path}.externalSecret.name: expected ExternalSecret ${name} to be synced, seen ${said}`
}

function resolveSecret(reference: Reference, name: string, field: string, { secrets }: SecretsRead): ResolvedReference {
  const secret = secrets[name]
  if (secret === undefined)
    return {
      reference,
      problem: { reason: 'MissingSecret', message: `${secretField(field, reference)}: expected a Secret ${name}, found none` },
    }
  const values: SecretValue[] = []
  const problems: string[] = []
  for (const { setting, keys } of reference.wanted) {
    const key = keys.find(candidate => secret.data?.[candidate] !== undefined)
    const problem =
      key === undefined ? `key ${keys.join(' or ')}, found ${keyList(secret.data)}` : valueProblem(setting, key, secret.data![key]!)
    if (problem === undefined) values.push({ setting, secret: name, key: key!, base64: secret.data![key!]! })
    else problems.push(problem)
  }
  if (problems.length === 0) return { reference, values }
  return { reference, problem: { reason: 'InvalidSecret', message: `${reference.path}: Secret ${name}: expected ${problems.join('; ')}` } }
}

/** Where the user wrote the name: `<path>.name`, or `<path>.secret.name` of credentials. */
function secretField(field: string, { source, path }: Reference): string {
  const isPlain = path.endsWith('caSecret') || path.endsWith('clientSecret') || 'externalSecret' in source
  return isPlain ? field : `${path}.secret.name`
}

function keyList(data: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(data ?? {})
  if (keys.length === 0) return 'no keys'
  return keys.length > 8 ? `${keys.slice(0, 8).join(', ')} …` : keys.join(', ')
}

/** Never shows the value. */
function valueProblem(setting: string, key: string, base64: string): string | undefined {
  const text = decode(base64).replace(/\r?\n$/, '')
  if (text === '') return `key ${key} to hold a value, found it empty`
  if (!Object.hasOwn(SETTINGS, setting)) return undefined
  const { value, ...rest } = SETTINGS[setting as SettingName]
  if ('isFile' in rest) return text.includes('-----BEGIN ') ? undefined : `key ${key} to hold PEM`
  return value.schema.safeParse(text).success ? undefined : `key ${key} to hold ${value.expected}`
}

function decode(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), character => character.charCodeAt(0)))
}
