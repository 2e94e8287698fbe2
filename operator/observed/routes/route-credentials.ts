import { FIELD_PAIRS } from '../../../dataplane/contract/platforms.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import type { SecretsRead } from '../gathered.ts'
import { givenSettings, routeReference } from '../references.ts'
import { type ResolvedReference, resolveReference } from '../resolve-reference.ts'

/** The credentials of a route. They are no good either where they hold one of two fields that come together, and `settings` lacks the other. */
export function resolveRoute({ spec }: TicketingRoute, read: SecretsRead): ResolvedReference {
  const resolved = resolveReference(routeReference(spec), read)
  const pair = FIELD_PAIRS[spec.platform]
  if (pair === undefined || resolved.values === undefined) return resolved
  const known = new Set([...Object.keys(givenSettings(spec)), ...resolved.values.map(({ setting }) => setting)])
  const found = pair.filter(field => known.has(field))
  if (found.length !== 1) return resolved
  const message = `spec.credentials: expected both of ${pair.join(' and ')} or neither, found ${found[0]} alone`
  return { reference: resolved.reference, problem: { reason: 'InvalidSecret', message, effect: 'stalled' } }
}
