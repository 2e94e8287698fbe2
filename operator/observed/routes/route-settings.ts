/** Whether the fields in a route's `settings` are of their form: the one that a PATCH of the ticketing configuration asks for. */
import { parseField, shownField } from '../../../dataplane/domain/tickets/platform-field.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import type { Problem } from '../finding.ts'
import { givenSettings } from '../references.ts'

/** Whether a platform may have a private address is a matter of the pipeline. */
export const FIELD_RULES = { allowsPlainHttp: true } as const

export function checkSettings({ spec }: TicketingRoute): Problem | undefined {
  const problems = Object.entries(givenSettings(spec)).flatMap(([field, value]) => {
    const parsed = parseField(field, value, FIELD_RULES)
    return parsed.ok ? [] : [`spec.settings.${field}: expected ${parsed.expected}, seen ${shownField(value)}`]
  })
  if (problems.length === 0) return undefined
  return { reason: 'InvalidSettings', message: problems.join('; '), effect: 'stalled' }
}
