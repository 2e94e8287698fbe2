/** The target of each TicketingRoute: an id that stays while other routes come and go, since tickets are kept by it. */
import { createHash } from 'node:crypto'
import { isTargetId, parseTargetId, type TargetId } from '../../../dataplane/contract/target-id.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import { byAge } from '../by-age.ts'
import { givenSettings } from '../references.ts'

/** Targets of a namespace. Together with `MAX_FIELD_BYTES` it keeps the secret fields of a pipeline within one Secret. */
export const MAX_TARGETS = 100

const MAX_NAME = 40
const HASH_CHARACTERS = 8

/**
 * Routes with equal settings and credentials share a target. A target keeps the id that the status of its oldest route has; a new one is called
 * like its platform, or `<platform>:<name of the route>` where that is taken. By name of the route; those beyond `MAX_TARGETS` have none, nor have routes
 * that were switched off from the beginning.
 */
export function assignTargets(routes: readonly TicketingRoute[]): ReadonlyMap<string, TargetId> {
  const [first] = routes
  if (first === undefined) return new Map()
  const known = remembered.get(first)
  if (known?.routes.length === routes.length && known.routes.every((route, n) => route === routes[n])) return known.ids
  const ids = assign(routes)
  remembered.set(first, { routes, ids })
  return ids
}

/** By the first route of a namespace. Each route asks for the targets of all, mostly without a change in between. */
const remembered = new WeakMap<
  TicketingRoute,
  { readonly routes: readonly TicketingRoute[]; readonly ids: ReadonlyMap<string, TargetId> }
>()

function assign(routes: readonly TicketingRoute[]): ReadonlyMap<string, TargetId> {
  const groups = [...Map.groupBy(routes.filter(hasTarget).toSorted(byAge), destinationOf).values()]
  const taken = new Set<TargetId>()
  const ids = new Map<string, TargetId>()
  const give = (group: readonly TicketingRoute[], candidates: readonly TargetId[]): boolean => {
    const id = candidates.find(candidate => !taken.has(candidate))
    if (id === undefined || taken.size >= MAX_TARGETS) return false
    taken.add(id)
    for (const { metadata } of group) ids.set(metadata.name, id)
    return true
  }
  const unnamed = groups.filter(group => !give(group, group.flatMap(heldTarget)))
  for (const group of unnamed) give(group, newTargets(group[0]!))
  return ids
}

const hasTarget = (route: TicketingRoute) => route.spec.enabled || heldTarget(route).length > 0

/** As the status has it; none when the route has become one of another platform. */
function heldTarget({ spec, status }: TicketingRoute): readonly TargetId[] {
  const held = status?.target
  return held !== undefined && isTargetId(held) && parseTargetId(held)!.platform === spec.platform ? [held] : []
}

/** The first that is free counts. The last cannot be taken: the name of a route is its own. */
function newTargets({ spec: { platform }, metadata: { name } }: TicketingRoute): readonly TargetId[] {
  const plain = name.replaceAll(/[^a-z0-9-]/g, '-')
  const hashed = `${plain.slice(0, MAX_NAME - HASH_CHARACTERS - 1)}-${createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS)}`
  return [platform, ...(plain === name && name.length <= MAX_NAME ? [plain, hashed] : [hashed]).map(each => `${platform}:${each}` as const)]
}

/** Stands for where a route leads: its platform, settings and credentials. */
function destinationOf(route: TicketingRoute): string {
  let text = destinations.get(route.spec)
  if (text === undefined) {
    const { platform, credentials } = route.spec
    const { secret, externalSecret, keys = {} } = credentials ?? {}
    text = JSON.stringify([platform, sorted(givenSettings(route.spec)), secret?.name, externalSecret?.name, sorted(keys)])
    destinations.set(route.spec, text)
  }
  return text
}

/** By `spec`. */
const destinations = new WeakMap<object, string>()

const sorted = (map: object) => Object.entries(map).sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
