/** The runtime configuration as callers see it (Spec: Ticketing runtime configuration): secrets masked. */
import { SEVERITIES, type Severity } from '../../../contract/platforms.ts'
import { parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import { effectiveAnomalyConfig } from '../../../domain/incidents/anomaly-config.ts'
import type { StoredPlatforms, StoredTarget } from '../../../domain/tickets/change-platforms.ts'
import { DEFAULT_ESCALATION } from '../../../domain/tickets/escalation-config.ts'
import { MASK, secretFields } from '../../../domain/tickets/platform-field.ts'
import type { DeclaredLayer, DeclaredPlatform, DeclaredTicketingSource } from '../../../ports/declared-ticketing.ts'
import type { TicketingConfig } from '../../../ports/ticketing-config.ts'
import type { SecretCipher } from './secret-cipher.ts'
import type { Routing, SectionsOfTenant, StoredModel } from './stored-sections.ts'
import { buildConfig } from './ticketing-config.ts'

const NO_MODEL = { provider: 'none', model: '' }

export interface ConfigViewDeps {
  readonly declared: Pick<DeclaredTicketingSource, 'current' | 'problems'>
  readonly cipher: SecretCipher
}

export function viewConfig({ declared, cipher }: ConfigViewDeps, sections: SectionsOfTenant) {
  const layer = declared.current()
  const origins = viewDeclared(layer, declared.problems())
  const problems = secretProblems(buildConfig(sections, layer, cipher))
  return {
    platforms: { ...viewPlatforms(sections.platforms?.value ?? {}), ...viewDeclaredPlatforms(layer) },
    routing: viewRouting(sections.routing?.value ?? {}, layer),
    anomaly: effectiveAnomalyConfig(sections.anomaly?.value, layer?.anomaly),
    llm: viewDeclaredModel(layer) ?? viewModel(sections.llm?.value),
    escalation: { ...DEFAULT_ESCALATION, ...sections.escalation?.value },
    ...(Object.keys(origins).length === 0 ? {} : { declared: origins }),
    ...(problems.length === 0 ? {} : { problems }),
  }
}

function viewPlatforms(platforms: StoredPlatforms) {
  return Object.fromEntries(Object.entries(platforms).map(([id, target]) => [id, viewTarget(target)]))
}

function viewTarget({ enabled, fields, secrets }: StoredTarget) {
  return { enabled, ...fields, ...Object.fromEntries(Object.keys(secrets).map(field => [field, MASK])) }
}

function viewDeclaredPlatforms(layer: DeclaredLayer | undefined) {
  return Object.fromEntries(platformsOf(layer).map(([id, { fields }]) => [id, { enabled: true, ...maskSecrets(id, fields) }]))
}

function platformsOf(layer: DeclaredLayer | undefined): readonly (readonly [TargetId, DeclaredPlatform])[] {
  return Object.entries(layer?.platforms ?? {}) as readonly [TargetId, DeclaredPlatform][]
}

function maskSecrets(id: TargetId, fields: DeclaredPlatform['fields']) {
  const secret = secretFields(parseTargetId(id)!.platform)
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, secret.includes(field) ? MASK : value]))
}

/** The most severe first. What is configured counts for all services that no route of the severity is for. */
function viewRouting(routing: Routing, layer: DeclaredLayer | undefined): Readonly<Record<string, readonly TargetId[]>> {
  const platformsOf = (severity: Severity) => {
    const routes = layer?.routes.filter(({ severities, escalation }) => !escalation && severities.includes(severity)) ?? []
    const own = routes.some(({ services }) => services === undefined) ? [] : (routing[severity] ?? [])
    return [...own, ...routes.map(({ platform }) => platform)]
  }
  return Object.fromEntries(SEVERITIES.map(severity => [severity, [...new Set(platformsOf(severity))]]))
}

export function viewModel(model: StoredModel | undefined) {
  if (model === undefined) return NO_MODEL
  const { apiKey, ...rest } = model
  return { ...rest, ...(apiKey === undefined ? {} : { apiKey: MASK }) }
}

function viewDeclaredModel(layer: DeclaredLayer | undefined) {
  if (layer?.llm === undefined) return undefined
  const { apiKey, ...model } = layer.llm
  return { ...NO_MODEL, ...model, ...(apiKey === undefined ? {} : { apiKey: MASK }) }
}

/** Secrets that cannot be decrypted, each with its place. */
function secretProblems({ unusable, llmProblem }: TicketingConfig): readonly string[] {
  return [...(unusable?.values() ?? []), ...(llmProblem === undefined ? [] : [llmProblem])]
}

/** Declared routes and their owners, beyond the other sections; `problems` keep the newest from being used. Empty parts are left out. */
function viewDeclared(layer: DeclaredLayer | undefined, problems: readonly string[]) {
  const parts = {
    platforms: Object.fromEntries(platformsOf(layer).map(([id, { owner }]) => [id, owner])),
    routes: layer?.routes ?? [],
    anomaly: layer?.anomaly ?? {},
    llm: layer?.llm === undefined ? {} : { provider: layer.llm.provider },
    problems,
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0))
}
