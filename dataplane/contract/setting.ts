/** The description of one setting, as data. The configuration reader, docs/settings.md and the operator share it. */
import { z } from 'zod'
import type { RoleName } from './roles.ts'
import { TENANT_ID_PATTERN } from './tenant-id.ts'

/** The values a setting takes: a schema from the environment's text to the value, and how to name them to a user. */
export interface ValueKind<T> {
  readonly schema: z.ZodType<T, string>
  /** Completes the sentence `expected …`. */
  readonly expected: string
}

/** Defaults are text as in the environment. A setting with neither `default` nor one for the role may stay unset. */
export interface Setting<T = unknown> {
  readonly description: string
  readonly roles: readonly RoleName[]
  readonly value: ValueKind<T>
  /** Where a role takes fewer values. */
  readonly valueFor?: Readonly<Partial<Record<RoleName, ValueKind<T>>>>
  readonly default?: string
  /** Where a role's default differs. */
  readonly defaultFor?: Readonly<Partial<Record<RoleName, string>>>
  /** Roles that do not start without it; no default counts for them. */
  readonly requiredFor?: readonly RoleName[]
  /** Never shown, not even in an error. */
  readonly secret?: true
  /** The value is the path of a PEM file, which must hold this at start. */
  readonly pem?: 'certificate' | 'key'
  /** The value is the path of a directory: nothing else may stand there at start. */
  readonly directory?: true
  /** The setting has no effect without this other one. */
  readonly needs?: string
  /** No two settings of one group may have the same value (0 as a port aside). */
  readonly distinct?: 'topic' | 'port'
}

export const TEXT: ValueKind<string> = { schema: z.string(), expected: 'text' }

export function positiveNumber(max: number): ValueKind<number> {
  const schema = z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/)
    .transform(Number)
    .pipe(z.number().positive().max(max))
  return { schema, expected: `a number above 0, at most ${max}` }
}

export function integer(min: number, max: number, name = 'an integer'): ValueKind<number> {
  const schema = z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
  return { schema, expected: `${name} from ${min} to ${max}` }
}

/** 0 asks the operating system for a free one. */
export const PORT = integer(0, 65_535, 'a port number')

/** Also in capitals, as others write it. */
export function inAnyCase<T>({ schema, expected }: ValueKind<T>): ValueKind<T> {
  return { schema: z.string().toLowerCase().pipe(schema), expected }
}

export function oneOf<const T extends readonly [string, ...string[]]>(names: T): ValueKind<T[number]> {
  return { schema: z.enum(names) as unknown as z.ZodType<T[number], string>, expected: `one of ${names.join(', ')}` }
}

export const HTTP_URL = httpUrl('http://127.0.0.1:9200')

export function httpUrl(example: string): ValueKind<string> {
  return {
    schema: z.string().refine(isHttpUrl),
    expected: `a URL such as ${example} (http or https, without user name, query or fragment)`,
  }
}

/** Basic authentication ends the name at its first colon. */
export const USERNAME: ValueKind<string> = {
  schema: z.string().regex(/^[^:\p{Cc}]{1,128}$/u),
  expected: 'a user name: 1 to 128 characters without a colon',
}

export const PASSWORD: ValueKind<string> = {
  schema: z.string().regex(/^[^\p{Cc}]{8,1024}$/u),
  expected: 'a password: 8 to 1024 characters',
}

export const API_KEY: ValueKind<string> = {
  schema: z.string().regex(/^svc_proj_[0-9a-f]{64}$/),
  expected: 'an API key: svc_proj_ and 64 hexadecimal digits of a cryptographic generator, as from `openssl rand -hex 32`',
}

/** Keys of 32 bytes each; the first encrypts, each decrypts. */
export const ENCRYPTION_KEYS: ValueKind<string> = {
  schema: z.string().refine(text => text.split(',').every(key => /^[A-Za-z0-9+/]{43}=$/.test(key))),
  expected: '32 bytes in base64, as from `openssl rand -base64 32` (several with commas between: the first encrypts, each decrypts)',
}

/** May hold a user name and a password. */
export const REDIS_URL: ValueKind<string> = {
  schema: z.string().refine(text => /^rediss?:$/.test(URL.parse(text)?.protocol ?? '')),
  expected:
    'a URL such as redis://127.0.0.1:6379 (rediss: over TLS; user name, password and database number as in redis://user:password@host:6379/0)',
}

/** A port may follow a name, an IPv4 address, or an IPv6 address in brackets. */
export const BROKERS: ValueKind<string> = {
  schema: z.string().refine(text => text.split(',').every(isAddress)),
  expected: 'brokers such as kafka-0:9092,kafka-1:9092 (host and port each, separated by commas)',
}

export const TENANT_ID: ValueKind<string> = {
  schema: z.string().regex(TENANT_ID_PATTERN),
  expected: 'a tenant id: 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends',
}

export const TENANT_IDS: ValueKind<string> = {
  schema: z.string().refine(text => text.split(',').every(name => TENANT_ID_PATTERN.test(name))),
  expected: 'tenant ids with commas between',
}

const NAMESPACE_PATTERN = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const NAMESPACE_FORM = '1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends'

export const NAMESPACE: ValueKind<string> = {
  schema: z.string().regex(NAMESPACE_PATTERN),
  expected: `a namespace: ${NAMESPACE_FORM}`,
}

/** Empty: none is named. */
export const NAMESPACES: ValueKind<string> = {
  schema: z.string().refine(text => text === '' || (namesIn(text).length > 0 && namesIn(text).every(name => NAMESPACE_PATTERN.test(name)))),
  expected: `namespaces with commas between, each ${NAMESPACE_FORM}`,
}

/** The names of a list with commas between, each once. */
export function namesIn(text: string): readonly string[] {
  return [...new Set(text.split(',').flatMap(part => part.trim() || []))]
}

export const TOPIC_NAME: ValueKind<string> = {
  schema: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,249}$/)
    .refine(name => name !== '.' && name !== '..'),
  expected: 'a topic name: 1 to 249 of letters, digits, ".", "_" and "-"',
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === ''
}

function isAddress(text: string): boolean {
  const match = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(text)
  return match !== null && Number(match[1]) >= 1 && Number(match[1]) <= 65_535
}
