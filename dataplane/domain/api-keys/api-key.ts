/** API keys: their form, and what is shown of them (Spec: API key). */

const KEY_PREFIX = 'svc_proj_'
/** Random bytes of a key; it has two hexadecimal digits for each. */
export const KEY_BYTES = 32
export const MAX_KEY_NAME_LENGTH = 100

const KEY_PATTERN = /^svc_proj_[0-9a-f]{64}$/
const SHOWN = 4

/** A key, as its administrators see it: never its value. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  /** The masked form. */
  readonly prefix: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

export interface CreatedKey extends Pick<ApiKey, 'id' | 'name' | 'createdAt'> {
  /** The value, for the one time that it is shown. */
  readonly key: string
}

/** `random` are `KEY_BYTES` bytes of a cryptographic generator. */
export function formatKey(random: Uint8Array): string {
  return KEY_PREFIX + Array.from(random, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Whether a text has the form of a key. */
export function isKeyFormed(text: string): boolean {
  return KEY_PATTERN.test(text)
}

/** The prefix, the first four characters, an ellipsis, the last four characters. */
export function maskKey(key: string): string {
  return `${key.slice(0, KEY_PREFIX.length + SHOWN)}…${key.slice(-SHOWN)}`
}

const KEYS = /svc_proj_[0-9a-f]{16,}/g

/** A text that a caller sent, for errors: keys in it are masked, as people send one in place of its id. */
export function withoutKeys(text: string): string {
  return text.replace(KEYS, maskKey)
}
