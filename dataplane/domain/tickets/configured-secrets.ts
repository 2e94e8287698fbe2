/** All secrets of a tenant's configuration: a platform or model may repeat that of another one, and no text for people may hold it (Spec: Authentication). */
import { secretFields } from './platform-field.ts'
import type { Target } from './target.ts'

/** Shorter secrets are not masked: they stand in many messages by chance, and the masks would tell them. */
const MIN_MASKED = 6

export interface SecretHolders {
  readonly targets: ReadonlyMap<unknown, Pick<Target, 'platform' | 'fields'>>
  readonly llm: { readonly apiKey?: string }
}

export function configuredSecrets({ targets, llm }: SecretHolders): readonly string[] {
  const found = [...[...targets.values()].flatMap(secretsOfTarget), llm.apiKey ?? '']
  return [...new Set(found)].filter(secret => secret.length >= MIN_MASKED)
}

/** The secret fields as they are stored, and without white space around them, as platforms are sent them. */
export function secretsOfTarget({ platform, fields }: Pick<Target, 'platform' | 'fields'>): readonly string[] {
  return secretFields(platform)
    .map(name => fields[name])
    .filter(value => typeof value === 'string')
    .flatMap(value => (value.trim() === value ? [value] : [value, value.trim()]))
}
