/** Targets and models as they are to be tested: as configured, or with fields that are not stored yet. */
import { parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import { changePlatforms, type StoredTarget } from '../../../domain/tickets/change-platforms.ts'
import type { FieldRules } from '../../../domain/tickets/platform-field.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import type { LlmConfig } from '../../../ports/language-model.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import { changeModel, type ModelChange } from './change-model.ts'
import { assertSound } from './refusals.ts'
import type { SecretCipher } from './secret-cipher.ts'
import { readSections } from './stored-sections.ts'

export interface DraftDeps {
  readonly store: SearchStore
  readonly cipher: SecretCipher
  readonly config: TicketingConfigSource
  readonly fieldRules: FieldRules
}

export const NO_MODEL = 'no provider configured'

/** The target with fields that need not be stored, or why there is none to test. Throws `HttpError` 400 for fields that cannot be. */
export async function targetToTest(
  deps: DraftDeps,
  tenant: string,
  id: TargetId,
  fields: Readonly<Record<string, unknown>> | undefined,
): Promise<Target | string> {
  if (fields !== undefined) return drafted(deps, tenant, id, fields)
  const { config } = deps
  const { targets, unusable } = await config.load(tenant)
  return targets.get(id) ?? unusable?.get(id) ?? `${id} is not configured`
}

/** The stored fields with others in their place. Of the tenant's own alone: with those of `default`, its secrets would go where the caller says. */
async function drafted(
  { store, cipher, fieldRules }: DraftDeps,
  tenant: string,
  id: TargetId,
  fields: Readonly<Record<string, unknown>>,
): Promise<Target | string> {
  const { platforms } = await readSections(store, tenant)
  const own = platforms?.owner === tenant && Object.hasOwn(platforms.value, id) ? platforms.value[id] : undefined
  const fresh: Record<string, string> = {}
  const remember = (_: TargetId, field: string, secret: string) => {
    fresh[field] = secret
    return ''
  }
  const changed = changePlatforms(own === undefined ? {} : { [id]: own }, { [id]: fields }, fieldRules, remember)
  assertSound(changed)
  const target: StoredTarget = changed.platforms[id]!
  const secrets: Record<string, string> = {}
  for (const [field, sealed] of Object.entries(target.secrets)) {
    const opened = Object.hasOwn(fresh, field)
      ? ({ ok: true, secret: fresh[field]! } as const)
      : cipher.open({ tenant, section: 'platforms', target: id, field }, sealed)
    if (!opened.ok) return `${id}.${field}: ${opened.problem}`
    secrets[field] = opened.secret
  }
  return { id, platform: parseTargetId(id)!.platform, enabled: target.enabled, fields: { ...target.fields, ...secrets } }
}

export interface TestedModel {
  readonly llm: LlmConfig
  /** Why there is nothing to ask. */
  readonly problem?: string
}

/** Without fields the model that counts; with some the tenant's own with those in their place. Throws `HttpError` 400 for fields that cannot be. */
export async function modelToTest(
  { store, cipher, config, fieldRules }: DraftDeps,
  tenant: string,
  fields: ModelChange,
): Promise<TestedModel> {
  if (Object.keys(fields).length === 0) {
    const { llm, llmProblem } = await config.load(tenant)
    const problem = llm.provider === 'none' ? NO_MODEL : llmProblem
    return problem === undefined ? { llm } : { llm, problem }
  }
  const { llm: section } = await readSections(store, tenant)
  const own = section?.owner === tenant ? section.value : undefined
  let fresh: string | undefined
  const changed = changeModel(own, fields, fieldRules, apiKey => {
    fresh = apiKey
    return ''
  })
  assertSound(changed)
  const { apiKey: sealed, ...llm } = changed.model
  if (llm.provider === 'none') return { llm, problem: NO_MODEL }
  if (sealed === undefined) return { llm }
  if (fresh !== undefined) return { llm: { ...llm, apiKey: fresh } }
  const opened = cipher.open({ tenant, section: 'llm', target: '', field: 'apiKey' }, sealed)
  return opened.ok ? { llm: { ...llm, apiKey: opened.secret } } : { llm, problem: `llm.apiKey: ${opened.problem}` }
}
