/** The sections of the ticketing configuration as the search store keeps them: one document for each tenant and section (Decisions 6). */
import { CONFIG_INDEX } from '../../../contract/indices.ts'
import type { Severity } from '../../../contract/platforms.ts'
import type { TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import type { AnomalyConfig } from '../../../domain/incidents/anomaly-config.ts'
import type { StoredPlatforms } from '../../../domain/tickets/change-platforms.ts'
import type { EscalationConfig } from '../../../domain/tickets/escalation-config.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LlmProvider } from '../../../ports/language-model.ts'
import { retryOnConflict } from '../../../ports/retry-on-conflict.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

export type Routing = Readonly<Partial<Record<Severity, readonly TargetId[]>>>

export interface StoredModel {
  readonly provider: LlmProvider
  readonly model: string
  readonly baseUrl?: string
  /** Encrypted. */
  readonly apiKey?: string
}

/** The value of each section. */
export interface Sections {
  readonly platforms: StoredPlatforms
  readonly routing: Routing
  /** Fields that it lacks have their defaults. */
  readonly anomaly: Partial<AnomalyConfig>
  readonly llm: StoredModel
  readonly escalation: Partial<EscalationConfig>
}
export type SectionName = keyof Sections

interface StoredSection<S extends SectionName> {
  readonly section: `ticketing.${S}`
  readonly tenantId: string
  readonly value: Sections[S]
  readonly updatedAt: string
}

/** A section that counts for a tenant; the tenant `default` owns those that others never set. */
export interface OwnedSection<S extends SectionName> {
  readonly owner: string
  readonly value: Sections[S]
}

/** Without the sections that neither the tenant nor `default` ever set. */
export type SectionsOfTenant = { readonly [S in SectionName]?: OwnedSection<S> }

const SECTION_NAMES: readonly SectionName[] = ['platforms', 'routing', 'anomaly', 'llm', 'escalation']

const sectionId = (section: SectionName, tenant: string) => `ticketing:${section}:${tenant}`

export async function readSections(store: SearchStore, tenant: string): Promise<SectionsOfTenant> {
  const ids = SECTION_NAMES.flatMap(section => [sectionId(section, tenant), sectionId(section, DEFAULT_TENANT)])
  const found = await store.getMany<StoredSection<SectionName>>(CONFIG_INDEX, [...new Set(ids)])
  const sections = SECTION_NAMES.flatMap(section => {
    const owner = [tenant, DEFAULT_TENANT].find(owner => found.has(sectionId(section, owner)))
    if (owner === undefined) return []
    return [[section, { owner, value: found.get(sectionId(section, owner))!.source.value }] as const]
  })
  return Object.fromEntries(sections)
}

export interface SectionChange<S extends SectionName> {
  readonly tenant: string
  readonly section: S
  /** The section after the change; called again when somebody else was first. `before`: undefined when the tenant never set it. */
  change(before: Sections[S] | undefined): Promise<Sections[S]>
}

/** Two callers that change different parts of a section at once both have their way. Rejects with `VersionConflict` when it changes too fast. */
export function changeSection<S extends SectionName>(
  { store, clock }: { readonly store: SearchStore; readonly clock: Clock },
  { tenant, section, change }: SectionChange<S>,
): Promise<Sections[S]> {
  const id = sectionId(section, tenant)
  return retryOnConflict(async () => {
    const stored = await store.get<StoredSection<S>>(CONFIG_INDEX, id)
    const value = await change(stored?.source.value)
    const updatedAt = new Date(clock.nowMs()).toISOString()
    const document: StoredSection<S> = { section: `ticketing.${section}`, tenantId: tenant, value, updatedAt }
    await store.put(CONFIG_INDEX, id, document, stored ?? { only: 'new' })
    return value
  })
}
