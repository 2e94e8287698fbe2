/** Changes to the targets of a tenant: what may be changed, and what the targets are afterwards (Spec: PATCH /api/v1/config/platforms; Decisions 6, 7). */
import { FIELD_PAIRS, type PlatformName } from '../../contract/platforms.ts'
import { parseTargetId, TARGET_ID_RULE, type TargetId } from '../../contract/target-id.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import { shortened } from '../../text/shortened.ts'
import { type FieldRules, fieldNames, MASK, parseField, requiredFields, secretFields, shownField } from './platform-field.ts'
import type { FieldValue } from './target.ts'

/** A target as it is stored. */
export interface StoredTarget {
  readonly enabled: boolean
  readonly fields: Readonly<Record<string, FieldValue>>
  /** Encrypted. */
  readonly secrets: Readonly<Record<string, string>>
}

export type StoredPlatforms = Readonly<Record<string, StoredTarget>>

export type PlatformsChanged =
  | { readonly ok: true; readonly platforms: StoredPlatforms; readonly updated: readonly TargetId[] }
  /** Each names its field; none shows a secret. */
  | { readonly ok: false; readonly problems: readonly string[] }

/** Encrypts a secret for its place. */
export type Seal = (target: TargetId, field: string, secret: string) => string

const MAX_TARGETS = 100
/** Longest id or name of a field that a problem shows. */
const MAX_SHOWN = 60

/** A map from target id to its fields; null removes a target or a field; `****` leaves a secret as it is. Nothing is sealed where there is a problem. */
export function changePlatforms(
  stored: StoredPlatforms,
  change: Readonly<Record<string, unknown>>,
  rules: FieldRules,
  seal: Seal,
): PlatformsChanged {
  const drafts = new Map<string, Draft>(Object.entries(stored).map(([id, target]) => [id, draftOf(target)]))
  const problems: string[] = []
  const updated: TargetId[] = []
  for (const [id, wanted] of Object.entries(change)) {
    const platform = parseTargetId(id)?.platform
    if (platform === undefined) problems.push(`${shortened(id, MAX_SHOWN)}: expected ${TARGET_ID_RULE}`)
    else if (wanted === null) drafts.delete(id)
    else if (!isJsonObject(wanted))
      problems.push(`${id}: expected an object with fields of ${platform}, or null, seen ${shownField(wanted)}`)
    else {
      const draft = drafts.get(id) ?? draftOf({ enabled: true, fields: {}, secrets: {} })
      problems.push(...applyFields(draft, platform, wanted, rules).map(problem => `${id}.${problem}`))
      drafts.set(id, draft)
    }
    updated.push(id as TargetId)
  }
  if (drafts.size > MAX_TARGETS)
    problems.push(`body: expected at most ${MAX_TARGETS} platform ids with those that are configured, seen ${drafts.size}`)
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    platforms: Object.fromEntries([...drafts].map(([id, draft]) => [id, sealDraft(id as TargetId, draft, seal)])),
    updated,
  }
}

/** The fields of a target while it is changed. */
interface Draft {
  enabled: boolean
  readonly fields: Map<string, FieldValue>
  /** Fields as they are stored. */
  readonly sealed: Map<string, string>
  /** In the clear. */
  readonly fresh: Map<string, string>
}

function draftOf({ enabled, fields, secrets }: StoredTarget): Draft {
  return { enabled, fields: new Map(Object.entries(fields)), sealed: new Map(Object.entries(secrets)), fresh: new Map() }
}

function sealDraft(id: TargetId, { enabled, fields, sealed, fresh }: Draft, seal: Seal): StoredTarget {
  const secrets = [...sealed, ...[...fresh].map(([field, secret]) => [field, seal(id, field, secret)] as const)]
  return { enabled, fields: Object.fromEntries(fields), secrets: Object.fromEntries(secrets) }
}

/** Problems begin with the name of the field. */
function applyFields(
  draft: Draft,
  platform: PlatformName,
  wanted: Readonly<Record<string, unknown>>,
  rules: FieldRules,
): readonly string[] {
  const known = fieldNames(platform)
  const secret = secretFields(platform)
  const problems = new Map<string, string>()
  for (const [field, value] of Object.entries(wanted)) {
    if (field === 'enabled') {
      if (typeof value === 'boolean') draft.enabled = value
      else problems.set(field, `expected true or false, seen ${shownField(value)}`)
    } else if (!known.includes(field)) problems.set(shortened(field, MAX_SHOWN), 'unknown field')
    else {
      const problem = secret.includes(field) ? applySecret(draft, field, value, rules) : applyPlain(draft, field, value, rules)
      if (problem !== undefined) problems.set(field, problem)
    }
  }
  const isThere = (field: string) => draft.fields.has(field) || draft.sealed.has(field) || draft.fresh.has(field) || problems.has(field)
  for (const field of requiredFields(platform).filter(field => !isThere(field))) problems.set(field, 'expected a value, seen none')
  const [one, other] = FIELD_PAIRS[platform] ?? []
  if (one !== undefined && other !== undefined && isThere(one) !== isThere(other))
    problems.set(isThere(one) ? other : one, `expected together with ${isThere(one) ? one : other}, seen none`)
  return [...problems].map(([field, problem]) => `${field}: ${problem}`)
}

function applyPlain({ fields }: Draft, field: string, value: unknown, rules: FieldRules): string | undefined {
  fields.delete(field)
  if (value === null) return undefined
  const parsed = parseField(field, value, rules)
  if (!parsed.ok) return `expected ${parsed.expected}, seen ${shownField(value)}`
  fields.set(field, parsed.value)
  return undefined
}

function applySecret({ sealed, fresh }: Draft, field: string, value: unknown, rules: FieldRules): string | undefined {
  if (value === MASK) return sealed.has(field) ? undefined : `expected the secret itself, since none is stored, seen ${MASK}`
  sealed.delete(field)
  if (value === null) return undefined
  const parsed = parseField(field, value, rules)
  if (!parsed.ok) return `expected ${parsed.expected}, seen something else`
  fresh.set(field, String(parsed.value))
  return undefined
}
