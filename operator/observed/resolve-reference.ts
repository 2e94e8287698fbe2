/** Resolves references to Secrets: to values, or to a problem. */
import { SETTINGS, type SettingName } from '../../dataplane/contract/env.ts'
import { parseField } from '../../dataplane/domain/tickets/platform-field.ts'
import { firstOf } from '../../dataplane/text/listed.ts'
import { conditionOf } from '../api/status.ts'
import type { Problem } from './finding.ts'
import type { ForeignCondition, Secret } from './foreign-kinds.ts'
import { isServed, ownOf, type SecretsRead } from './gathered.ts'
import { type Reference, targetOf } from './references.ts'
import { FIELD_RULES } from './routes/route-settings.ts'

/** A value that is there: `key` of `secret`, and its content in base64. */
export interface SecretValue {
  readonly setting: string
  readonly secret: string
  readonly key: string
  readonly base64: string
}

/** `values` is undefined when the reference cannot be used; a `problem` beside values is one that does not keep it from being used. */
export interface ResolvedReference {
  readonly reference: Reference
  readonly values?: readonly SecretValue[]
  readonly problem?: Problem
  /** The Secret may be there: it could not be read. */
  readonly isUnread?: true
}

const stalled = (reason: string, message: string): Problem => ({ reason, message, effect: 'stalled' })
const notSynced = (message: string): Problem => ({ reason: 'SecretNotSynced', message, effect: 'progressing' })

export function resolveReference(reference: Reference, read: SecretsRead): ResolvedReference {
  const { source, path, misnamed } = reference
  if (misnamed !== undefined) return { reference, problem: stalled('InvalidSecret', `${path}.keys: ${misnamed}`) }
  if ('secret' in source) return resolveSecret(reference, source.secret, `${path}.name`, read)
  const name = source.externalSecret
  const external = ownOf(read.externalSecrets, name)
  if (external === undefined) {
    const message = isServed(read, 'ExternalSecret.external-secrets.io')
      ? `${path}.externalSecret.name: expected an ExternalSecret ${name}, found none`
      : `${path}.externalSecret: expected the External Secrets operator, found no ExternalSecret API in this cluster`
    return { reference, problem: stalled('MissingSecret', message) }
  }
  const ready = conditionOf(external, 'Ready')
  const resolved = resolveSecret(reference, targetOf(name, read.externalSecrets)!, `${path}.externalSecret.name`, read)
  if (ready?.status === 'True') return resolved
  return { ...resolved, problem: notSynced(notSyncedMessage(path, name, ready)) }
}

function notSyncedMessage(path: string, name: string, ready: ForeignCondition | undefined): string {
  const said = ready === undefined ? 'no status yet' : [ready.reason, ready.message].filter(Boolean).join(': ') || ready.status
  return `${path}.externalSecret.name: expected ExternalSecret ${name} to be synced, seen ${said}`
}

function resolveSecret(reference: Reference, name: string, field: string, read: SecretsRead): ResolvedReference {
  const { secrets, unreadSecrets } = read
  const secret = ownOf(secrets, name)
  const found = ownOf(unreadSecrets, name)
  const unread = found && { ...found, message: `${secretField(field, reference)}: ${found.message}` }
  if (secret === undefined && unread !== undefined) return { reference, isUnread: true, problem: unread }
  if (secret === undefined) {
    const message = `${secretField(field, reference)}: expected a Secret ${name}, found none`
    const maker = findMaker(name, read)
    if (maker === undefined) return { reference, problem: stalled('MissingSecret', message) }
    return { reference, problem: notSynced(`${message}: ExternalSecret ${maker} is not synced`) }
  }
  const values: SecretValue[] = reference.takesAll ? allValues(reference.path, secret) : []
  const problems: string[] = []
  for (const { setting, keys, isOptional, isRaw } of reference.wanted) {
    const key = keys.find(candidate => ownOf(secret.data, candidate) !== undefined)
    if (key === undefined && isOptional) continue
    const problem =
      key === undefined ? `key ${keys.join(' or ')}, found ${keyList(secret.data)}` : isRaw ? undefined : valueProblem(setting, key, secret)
    if (problem === undefined) values.push({ setting, secret: name, key: key!, base64: ownOf(secret.data, key!)! })
    else problems.push(problem)
  }
  if (problems.length === 0) return { reference, values, ...(unread && { problem: unread }) }
  return { reference, problem: stalled('InvalidSecret', `${reference.path}: Secret ${name}: expected ${problems.join('; ')}`) }
}

function allValues(path: string, { metadata: { name }, data = {} }: Secret): SecretValue[] {
  return Object.entries(data).map(([key, base64]) => ({ setting: `${path} ${key}`, secret: name, key, base64 }))
}

/** The ExternalSecret that will make a Secret, of those that something else of the same owner refers to. */
function findMaker(secret: string, { externalSecrets }: SecretsRead): string | undefined {
  const waiting = Object.values(externalSecrets).filter(external => conditionOf(external, 'Ready')?.status !== 'True')
  return waiting.map(({ metadata }) => metadata.name).find(name => targetOf(name, externalSecrets) === secret)
}

/** Where the user wrote the name: `<path>.name`, or `<path>.secret.name` of credentials. */
function secretField(field: string, { source, path, nameField }: Reference): string {
  if (nameField !== undefined) return nameField
  const isPlain = path.endsWith('caSecret') || path.endsWith('clientSecret') || 'externalSecret' in source
  return isPlain ? field : `${path}.secret.name`
}

const MAX_NAMED = 8

function keyList(data: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(data ?? {})
  if (keys.length === 0) return 'no keys'
  return firstOf(keys, MAX_NAMED)
}

/** Bytes of a platform's field or of a model's key: what a pipeline copies of them, of five fields for each of `MAX_TARGETS`, has to fit into one Secret. */
export const MAX_FIELD_BYTES = 2 * 1024

/** Never shows the value. */
function valueProblem(setting: string, key: string, { data, longValues }: Secret): string | undefined {
  const base64 = ownOf(data, key)!
  const text = decode(base64).replace(/\r?\n$/, '')
  if (text === '') return `key ${key} to hold a value, found it empty`
  if (!Object.hasOwn(SETTINGS, setting)) return fieldProblem(setting, key, text, ownOf(longValues, key) ?? bytesOf(base64).byteLength)
  const { value, ...rest } = SETTINGS[setting as SettingName]
  if ('pem' in rest) return text.includes('-----BEGIN ') ? undefined : `key ${key} to hold PEM`
  return value.schema.safeParse(text).success ? undefined : `key ${key} to hold ${value.expected}`
}

function fieldProblem(field: string, key: string, text: string, bytes: number): string | undefined {
  if (bytes > MAX_FIELD_BYTES) return `key ${key} to hold at most ${MAX_FIELD_BYTES} bytes, found ${bytes}`
  const parsed = parseField(field, text, FIELD_RULES)
  return parsed.ok ? undefined : `key ${key} to hold ${parsed.expected}`
}

function decode(base64: string): string {
  return new TextDecoder().decode(bytesOf(base64))
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}
