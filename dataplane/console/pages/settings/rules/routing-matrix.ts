/** The routing of tickets as a matrix of targets and severities. */
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import type { DeclaredRoute } from '../../../../ports/declared-ticketing.ts'

export type Routing = Readonly<Partial<Record<Severity, readonly string[]>>>

/** The routing part of the API's answer. */
export interface RoutingSource {
  readonly platforms: Readonly<Record<string, { readonly enabled?: unknown } | undefined>>
  readonly routing: Routing
  readonly declared?: { readonly routes?: readonly DeclaredRoute[] }
}

export interface RoutingCell {
  readonly isRouted: boolean
  /** The resource that declared it: not to be changed here. */
  readonly owner?: string
  /** Declared routes that are narrower than all services, or for escalations alone; the services that such routes leave to what is configured. */
  readonly note?: string
}

export interface RoutingRow {
  readonly target: string
  /** Why nothing is sent there though it is routed. */
  readonly problem?: string
  readonly cells: Readonly<Record<Severity, RoutingCell>>
}

/** Owners by the severity that they own: a declared route that is not for escalations alone owns all of it. */
export function declaredOwners(routes: readonly DeclaredRoute[] = []): ReadonlyMap<Severity, readonly string[]> {
  const owners = new Map<Severity, readonly string[]>()
  for (const severity of SEVERITIES) {
    const own = routes.filter(({ severities, escalation }) => !escalation && severities.includes(severity)).map(({ owner }) => owner)
    if (own.length > 0) owners.set(severity, [...new Set(own)])
  }
  return owners
}

export function buildMatrix({ platforms, routing, declared }: RoutingSource): readonly RoutingRow[] {
  const routes = declared?.routes ?? []
  const owners = declaredOwners(routes)
  const named = [
    ...Object.keys(platforms),
    ...SEVERITIES.flatMap(severity => routing[severity] ?? []),
    ...routes.map(({ platform }) => platform),
  ]
  return [...new Set(named)].sort().map(target => {
    const problem = problemOf(platforms, target)
    const cells = Object.fromEntries(SEVERITIES.map(severity => [severity, cellOf(target, severity, routing, routes, owners)]))
    return { target, cells: cells as Record<Severity, RoutingCell>, ...(problem !== undefined && { problem }) }
  })
}

function problemOf(platforms: RoutingSource['platforms'], target: string): string | undefined {
  const platform = Object.hasOwn(platforms, target) ? platforms[target] : undefined
  if (platform === undefined) return 'not configured'
  return platform.enabled === false ? 'switched off' : undefined
}

function cellOf(
  target: string,
  severity: Severity,
  routing: Routing,
  routes: readonly DeclaredRoute[],
  owners: ReadonlyMap<Severity, readonly string[]>,
): RoutingCell {
  const own = routes.filter(({ platform, severities }) => platform === target && severities.includes(severity))
  const isRouted = (routing[severity] ?? []).includes(target) || own.some(({ escalation }) => !escalation)
  const owner = own[0]?.owner ?? owners.get(severity)?.join(', ')
  const isOwned = owners.has(severity)
  const isOfOthers = isOwned && isRouted && own.every(({ escalation }) => escalation)
  const notes = [...new Set([...(isOfOthers ? ['all other services'] : []), ...own.flatMap(noteOf)])]
  return { isRouted, ...(isOwned && owner !== undefined && { owner }), ...(notes.length > 0 && { note: notes.join('; ') }) }
}

function noteOf({ escalation, services, owner }: DeclaredRoute): readonly string[] {
  const only = [...(escalation ? ['on escalate'] : []), ...(services === undefined ? [] : [`services ${services.join(', ')}`])]
  return only.length === 0 ? [] : [`${only.join(', ')} (${owner})`]
}

export interface RouteChange {
  readonly severity: Severity
  readonly target: string
  readonly isRouted: boolean
}

/** The body of `PATCH /api/v1/config/routing` that changes one cell; the order of the others stays. */
export function changeRoute(routing: Routing, { severity, target, isRouted }: RouteChange): Routing {
  const others = (routing[severity] ?? []).filter(id => id !== target)
  return { [severity]: isRouted ? [...others, target] : others }
}

/** The routing with changes made one after the other. */
export function changeRoutes(routing: Routing, changes: readonly RouteChange[]): Routing {
  let changed = routing
  for (const change of changes) changed = { ...changed, ...changeRoute(changed, change) }
  return changed
}

/** Severities of which nobody would be told. */
export function untoldSeverities(rows: readonly RoutingRow[]): readonly Severity[] {
  return SEVERITIES.filter(severity => !rows.some(({ cells, problem }) => problem === undefined && cells[severity].isRouted))
}
