/** The runtime configuration as callers see it (Spec: Ticketing runtime configuration): secrets masked. */
import { PLATFORMS, type PlatformName, SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { AnomalyConfig } from '../../domain/incidents/anomaly-config.ts'
import type { DeclaredLayer, DeclaredPlatform, DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'

const MASK = '****'
const NO_MODEL = { provider: 'none', model: '' }

export function viewConfig(declared: Pick<DeclaredTicketingSource, 'current' | 'problems'>, anomaly: AnomalyConfig) {
  const layer = declared.current()
  const origins = viewDeclared(layer, declared.problems())
  return {
    platforms: viewPlatforms(layer),
    routing: viewRouting(layer),
    anomaly,
    llm: viewModel(layer),
    ...(Object.keys(origins).length === 0 ? {} : { declared: origins }),
  }
}

function viewPlatforms(layer: DeclaredLayer | undefined) {
  const platforms = Object.entries(layer?.platforms ?? {}) as readonly [PlatformName, DeclaredPlatform][]
  return Object.fromEntries(
    platforms.map(([name, { fields }]) => [
      name,
      { enabled: true, ...maskSecrets(fields, [...PLATFORMS[name].secret, ...PLATFORMS[name].optionalSecret]) },
    ]),
  )
}

function maskSecrets(fields: DeclaredPlatform['fields'], secret: readonly string[]) {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, secret.includes(field) ? MASK : value]))
}

/** The most severe first. */
function viewRouting(layer: DeclaredLayer | undefined): Readonly<Record<string, readonly TargetId[]>> {
  const routed = layer?.routes.filter(({ escalation }) => !escalation) ?? []
  const platformsOf = (severity: Severity) =>
    routed.filter(({ severities }) => severities.includes(severity)).map(({ platform }) => platform)
  return Object.fromEntries(SEVERITIES.map(severity => [severity, [...new Set(platformsOf(severity))]]))
}

function viewModel(layer: DeclaredLayer | undefined) {
  if (layer?.llm === undefined) return NO_MODEL
  const { apiKey, ...model } = layer.llm
  return { ...NO_MODEL, ...model, ...(apiKey === undefined ? {} : { apiKey: MASK }) }
}

/** Who declared what, beyond what the other sections can show; `problems` keep the newest from being used. Empty parts are left out. */
function viewDeclared(layer: DeclaredLayer | undefined, problems: readonly string[]) {
  const platforms = Object.entries(layer?.platforms ?? {}) as readonly [PlatformName, DeclaredPlatform][]
  const parts = {
    platforms: Object.fromEntries(platforms.map(([name, { owner }]) => [name, owner])),
    routes: layer?.routes ?? [],
    anomaly: layer?.anomaly ?? {},
    problems,
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0))
}
