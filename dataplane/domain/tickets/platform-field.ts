/** Rules for the fields of a platform (Spec: Ticketing runtime configuration; Decisions 6). */
import { PLATFORMS, type PlatformFields, type PlatformName } from '../../contract/platforms.ts'
import { ALLOWED_BY } from '../../contract/private-targets.ts'
import { shortened } from '../../text/shortened.ts'
import type { FieldValue } from './target.ts'

/** Stands for a secret wherever callers see it; sent back it leaves the secret as it is. */
export const MASK = '****'

const MAX_TEXT = 2_048
const MAX_LIST = 50
/** Longest value that a problem shows. */
const MAX_SHOWN = 60

export interface FieldRules {
  /** Plain http is an address like any other: it is by `ALLOW_PRIVATE_TARGETS` alone. */
  readonly allowsPlainHttp: boolean
  /** The address that is expected instead of a host that nobody may speak to, as far as its text tells; undefined for all others. Default: none. */
  readonly refuseHost?: (host: string) => string | undefined
}

export type ParsedField = { readonly ok: true; readonly value: FieldValue } | { readonly ok: false; readonly expected: string }

/** The value as it is kept; undefined for one that is not of the kind. */
interface Kind {
  readonly expected: string
  parse(value: unknown, rules: FieldRules): FieldValue | undefined
  /** The part of a value that is not of the kind, where it is one of several. */
  partOf?(value: unknown): unknown
  /** The host that a value names. */
  hostOf?(value: FieldValue): string
}

const TEXT: Kind = {
  expected: `text of 1 to ${MAX_TEXT} characters in one line`,
  parse: value => (isText(value) ? value : undefined),
}

const HTTPS_URL: Kind = {
  expected: 'an https URL such as https://example.com, without user name and fragment',
  parse: (value, { allowsPlainHttp }) => (isText(value) && isTargetUrl(value, allowsPlainHttp) ? value : undefined),
  hostOf: value => hostOf(String(value)),
}

/** The root alone: what is sent has the version in its path. */
const ROOT_URL: Kind = {
  ...HTTPS_URL,
  expected: 'the https URL of the root, such as https://example.com, without /v2, user name and fragment',
  parse: (value, rules) => (isText(value) && /\/v2(\/|$)/.test(value) ? undefined : HTTPS_URL.parse(value, rules)),
}

/** The whole address, to which nothing is added: what follows a # in it is never sent, and is left out. */
const WEBHOOK_URL: Kind = {
  expected: 'an https URL such as https://example.com, without user name',
  parse: (value, rules) => HTTPS_URL.parse(isText(value) && !/\s/.test(value) ? value.split('#', 1)[0] : value, rules),
  hostOf: HTTPS_URL.hostOf!,
}

const HOST: Kind = { ...TEXT, hostOf: String }

const PORT: Kind = {
  expected: 'a port number from 1 to 65535',
  parse(value) {
    const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
    return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined
  },
}

const FLAG: Kind = {
  expected: 'true or false',
  parse: value => (value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined),
}

const TEXTS: Kind = {
  expected: `text, or a list of 1 to ${MAX_LIST} texts`,
  parse: value => (isText(value) || isTexts(value) ? value : undefined),
}

const ADDRESSES: Kind = {
  expected: `an e-mail address, or a list of 1 to ${MAX_LIST}`,
  parse(value) {
    const list = listOf(value)
    return list.length > 0 && list.length <= MAX_LIST && list.every(isAddress) ? (value as FieldValue) : undefined
  },
  partOf: value => (listOf(value).length > 1 ? listOf(value).find(each => !isAddress(each)) : undefined),
}

const ADDRESS: Kind = { expected: 'an e-mail address', parse: value => (isText(value) && isAddress(value) ? value : undefined) }

/** Kinds of fields; a field that is not named here is text. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['apiBaseUrl', ROOT_URL],
  ['baseUrl', HTTPS_URL],
  ['instanceUrl', HTTPS_URL],
  ['webhookUrl', WEBHOOK_URL],
  ['host', HOST],
  ['port', PORT],
  ['secure', FLAG],
  ['from', ADDRESS],
  ['to', ADDRESSES],
  ['escalationTo', ADDRESSES],
  ['responders', TEXTS],
])

/** By the field's name, which is one of its platform's. */
export function parseField(field: string, value: unknown, rules: FieldRules): ParsedField {
  const { expected, parse, partOf, hostOf } = KINDS.get(field) ?? TEXT
  const parsed = parse(value, rules)
  if (parsed === undefined) {
    if (parse(value, { ...rules, allowsPlainHttp: true }) !== undefined) return { ok: false, expected: expected + PLAIN_HTTP_NOTE }
    const part = partOf?.(value)
    return { ok: false, expected: part === undefined ? expected : `${expected}, and ${shownField(part)} is none` }
  }
  const expectedHost = hostOf && rules.refuseHost?.(hostOf(parsed))
  return expectedHost === undefined ? { ok: true, value: parsed } : { ok: false, expected: expectedHost }
}

export function secretFields(platform: PlatformName): readonly string[] {
  const { secret, optionalSecret }: PlatformFields = PLATFORMS[platform]
  return [...secret, ...optionalSecret]
}

/** Secret ones first. */
export function fieldNames(platform: PlatformName): readonly string[] {
  const { required, optional }: PlatformFields = PLATFORMS[platform]
  return [...secretFields(platform), ...required, ...optional]
}

/** Fields of a platform without which nothing can be sent. */
export function requiredFields(platform: PlatformName): readonly string[] {
  const { secret, required }: PlatformFields = PLATFORMS[platform]
  return [...secret, ...required]
}

/** Behind the expected form of an address that is refused for its plain http alone: the way to have it taken. */
export const PLAIN_HTTP_NOTE = ` (plain http needs ${ALLOWED_BY})`

/** Whether a text may be the address of a platform or of a model. */
export function isTargetUrl(text: string, allowsPlainHttp: boolean): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || (allowsPlainHttp && url.protocol === 'http:')
}

/** The host of an address of a platform or of a model, as the WHATWG reads it: `https://2130706433` is 127.0.0.1. */
export function hostOf(targetUrl: string): string {
  return new URL(targetUrl).hostname.replace(/^\[|\]$/g, '')
}

/** The text for an error message: what stands before the host of an address may be a password. */
export function withoutUserInfo(text: string): string {
  return text.replaceAll(/\/\/[^/?#\s]*@/g, `//${MASK}@`)
}

/** A value that is no secret, for a message. */
export function shownField(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? JSON.stringify(shortened(withoutUserInfo(value), MAX_SHOWN)) : String(value)
}

/** A line break in a header or a subject would begin another one. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT && !/[\u0000-\u001f\u007f]/.test(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_LIST && value.every(isText)
}

/** Addresses of a list, or of a text with commas. */
function listOf(value: unknown): readonly string[] {
  return isText(value) ? value.split(',') : isTexts(value) ? value : []
}

function isAddress(text: string): boolean {
  return /^[^@]+@[^@\s]+$/.test(text.trim())
}
