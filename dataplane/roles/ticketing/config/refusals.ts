import { HttpError } from '../../../http/http-error.ts'
import type { SecretCipher, SecretPlace } from './secret-cipher.ts'

/** Problems that an answer names; a hostile map may have a hundred thousand. */
const MAX_NAMED = 20

/** Throws `HttpError` 400 with the problems of a change. */
export function assertSound<T extends { readonly ok: true }>(
  changed: T | { readonly ok: false; readonly problems: readonly string[] },
): asserts changed is T {
  if (changed.ok) return
  const more = changed.problems.length - MAX_NAMED
  throw new HttpError(400, [...changed.problems.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

/** Throws `HttpError` 503 without a key. */
export function sealSecret(cipher: SecretCipher, place: SecretPlace, secret: string): string {
  if (cipher.canSeal) return cipher.seal(place, secret)
  const what = [place.target, place.field].filter(Boolean).join('.')
  throw new HttpError(503, `${what}: secrets cannot be stored, since the setting ENCRYPTION_KEY of the ticketing agent is not set`)
}
