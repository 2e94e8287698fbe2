/** The ticketing configuration that counts for a tenant, with its secrets in the clear: declared, else the tenant's, else that of `default`. */
import { SEVERITIES } from '../../../contract/platforms.ts'
import { parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import { effectiveAnomalyConfig } from '../../../domain/incidents/anomaly-config.ts'
import type { StoredTarget } from '../../../domain/tickets/change-platforms.ts'
import { DEFAULT_ESCALATION, escalationTimes } from '../../../domain/tickets/escalation-config.ts'
import { parseField } from '../../../domain/tickets/platform-field.ts'
import type { FieldValue, Target } from '../../../domain/tickets/target.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { DeclaredLayer, DeclaredPlatform, DeclaredTicketingSource } from '../../../ports/declared-ticketing.ts'
import type { LlmConfig } from '../../../ports/language-model.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { TicketingConfig, TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import type { SecretCipher } from './secret-cipher.ts'
import { type OwnedSection, readSections, type SectionsOfTenant } from './stored-sections.ts'

export interface TicketingConfigDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly declared: Pick<DeclaredTicketingSource, 'current'>
  readonly cipher: SecretCipher
}

export interface RememberingConfigSource extends TicketingConfigSource {
  /** The next `load` reads anew: of all tenants, since others may fall back to what was changed. */
  forget(): void
}

const REMEMBERED_MS = 1_000
/** Tenants. */
const MAX_REMEMBERED = 1_000

export function createTicketingConfig({ store, clock, declared, cipher }: TicketingConfigDeps): RememberingConfigSource {
  const remembered = new Map<string, { readonly atMs: number; readonly sections: Promise<SectionsOfTenant> }>()

  const sectionsOf = (tenant: string): Promise<SectionsOfTenant> => {
    const known = remembered.get(tenant)
    const nowMs = clock.nowMs()
    if (known !== undefined && isRecent(known.atMs, REMEMBERED_MS, nowMs)) return known.sections
    const sections = readSections(store, tenant)
    const entry = { atMs: nowMs, sections }
    remembered.delete(tenant)
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    remembered.set(tenant, entry)
    // A reading that failed is tried again at once by the next caller.
    sections.catch(() => remembered.get(tenant) === entry && remembered.delete(tenant))
    return sections
  }

  return {
    forget: () => remembered.clear(),
    load: async tenant => buildConfig(await sectionsOf(tenant), declared.current(), cipher),
  }
}

export function buildConfig(sections: SectionsOfTenant, layer: DeclaredLayer | undefined, cipher: SecretCipher): TicketingConfig {
  const { targets, unusable } = openTargets(sections.platforms, cipher)
  for (const [id, platform] of Object.entries(layer?.platforms ?? {}) as readonly [TargetId, DeclaredPlatform][]) {
    targets.set(id, declaredTarget(id, platform))
    unusable.delete(id)
  }
  const routing = sections.routing?.value ?? {}
  return {
    targets,
    unusable,
    routing: { critical: [], high: [], medium: [], low: [], ...routing },
    declaredRoutes: layer?.routes ?? [],
    anomaly: effectiveAnomalyConfig(sections.anomaly?.value, layer?.anomaly),
    escalateAfterMs: escalationTimes({ ...DEFAULT_ESCALATION, ...sections.escalation?.value }),
    ...openModel(sections.llm, layer?.llm, cipher),
  }
}

interface OpenedTargets {
  readonly targets: Map<TargetId, Target>
  /** Why, by id. */
  readonly unusable: Map<TargetId, string>
}

/** A target with a secret that cannot be decrypted keeps no other from being used. */
function openTargets(section: OwnedSection<'platforms'> | undefined, cipher: SecretCipher): OpenedTargets {
  const opened: OpenedTargets = { targets: new Map(), unusable: new Map() }
  for (const [id, stored] of Object.entries(section?.value ?? {}) as readonly [TargetId, StoredTarget][]) {
    const secrets: Record<string, string> = {}
    const problems: string[] = []
    for (const [field, sealed] of Object.entries(stored.secrets)) {
      const result = cipher.open({ tenant: section!.owner, section: 'platforms', target: id, field }, sealed)
      if (result.ok) secrets[field] = result.secret
      else problems.push(`${id}.${field}: ${result.problem}`)
    }
    if (problems.length > 0) opened.unusable.set(id, problems.join('; '))
    else opened.targets.set(id, targetOf(id, stored.enabled, { ...stored.fields, ...secrets }))
  }
  return opened
}

function targetOf(id: TargetId, enabled: boolean, fields: Target['fields']): Target {
  return { id, platform: parseTargetId(id)!.platform, enabled, fields }
}

/** Files hold `true` and `587` as texts. */
function declaredTarget(id: TargetId, { fields }: DeclaredPlatform): Target {
  const valueIn = (field: string, value: FieldValue) => {
    const parsed = parseField(field, value, { allowsPlainHttp: true })
    return parsed.ok ? parsed.value : value
  }
  return targetOf(id, true, Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, valueIn(field, value)])))
}

function openModel(
  section: OwnedSection<'llm'> | undefined,
  declared: DeclaredLayer['llm'],
  cipher: SecretCipher,
): { readonly llm: LlmConfig; readonly llmProblem?: string } {
  if (declared !== undefined) {
    const { provider, model = '', baseUrl, apiKey } = declared
    return { llm: { provider, model, ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) } }
  }
  if (section === undefined) return { llm: { provider: 'none', model: '' } }
  const { apiKey: sealed, ...model } = section.value
  if (sealed === undefined) return { llm: model }
  const opened = cipher.open({ tenant: section.owner, section: 'llm', target: '', field: 'apiKey' }, sealed)
  return opened.ok ? { llm: { ...model, apiKey: opened.secret } } : { llm: model, llmProblem: `llm.apiKey: ${opened.problem}` }
}

/** The severities of the layer, which no PATCH changes, with the owner of the first route of each. */
export function declaredSeverities(layer: DeclaredLayer | undefined): ReadonlyMap<string, string> {
  const routes = layer?.routes.filter(({ escalation }) => !escalation) ?? []
  const owned = SEVERITIES.flatMap(severity => {
    const owner = routes.find(({ severities }) => severities.includes(severity))?.owner
    return owner === undefined ? [] : [[severity, owner] as const]
  })
  return new Map(owned)
}
