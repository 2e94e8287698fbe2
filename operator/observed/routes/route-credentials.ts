import { FIELD_PAIRS, PLATFORMS, type PlatformFields } from '../../../dataplane/contract/platforms.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import type { Problem } from '../finding.ts'
import type { SecretsRead } from '../gathered.ts'
import { givenSettings, routeReferences } from '../references.ts'
import { type ResolvedReference, resolveReference } from '../resolve-reference.ts'

export type RouteCredentials = Omit<ResolvedReference, 'reference'>

/** The credentials of a route. They are no good either where they hold one of two fields that come together, and `settings` lacks the other. */
export function resolveRoute(route: TicketingRoute, read: SecretsRead): RouteCredentials {
  const [reference] = routeReferences(route.spec)
  const resolved = reference === undefined ? withoutCredentials(route) : resolveReference(reference, read)
  const pair = FIELD_PAIRS[route.spec.platform]
  if (pair === undefined || resolved.values === undefined) return resolved
  const known = new Set([...Object.keys(givenSettings(route.spec)), ...resolved.values.map(({ setting }) => setting)])
  const found = pair.filter(field => known.has(field))
  if (found.length !== 1) return resolved
  const message = `spec.credentials: expected both of ${pair.join(' and ')} or neither, found ${found[0]} alone`
  return { problem: { reason: 'InvalidSecret', message, effect: 'stalled' } }
}

/** All fields that its platform needs have to be in `settings`. */
function withoutCredentials({ spec }: TicketingRoute): RouteCredentials {
  const { secret, required }: PlatformFields = PLATFORMS[spec.platform]
  const settings = givenSettings(spec)
  const lacking = required.filter(field => !Object.hasOwn(settings, field))
  const stalled = (reason: string, message: string): { readonly problem: Problem } => ({ problem: { reason, message, effect: 'stalled' } })
  if (secret.length > 0) return stalled('MissingSecret', `spec.credentials: expected a Secret with ${secret.join(', ')}, seen nothing`)
  if (lacking.length > 0) return stalled('InvalidSettings', `spec.settings: expected ${lacking.join(', ')}, which no credentials hold`)
  return { values: [] }
}
