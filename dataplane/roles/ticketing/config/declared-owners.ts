/** Settings that the declared layer owns cannot be changed by PATCH: 409 names the owner, and nothing is changed (Decisions 6). */
import type { TargetId } from '../../../contract/target-id.ts'
import { HttpError } from '../../../http/http-error.ts'
import type { DeclaredAnomaly, DeclaredLayer } from '../../../ports/declared-ticketing.ts'
import type { SectionName } from './stored-sections.ts'
import { declaredSeverities } from './ticketing-config.ts'

type Layer = DeclaredLayer | undefined

const ofRoute = (owner: string) => `declared by TicketingRoute ${owner}: change it there`

/** By section: why a field of a change is not the caller's to change; undefined when it is. */
const OWNERS: Readonly<Record<SectionName, (layer: Layer, field: string) => string | undefined>> = {
  platforms(layer, id) {
    const platforms = layer?.platforms ?? {}
    return Object.hasOwn(platforms, id) ? ofRoute(platforms[id as TargetId]!.owner) : undefined
  },
  routing(layer, severity) {
    const owner = declaredSeverities(layer).get(severity)
    return owner === undefined ? undefined : ofRoute(owner)
  },
  anomaly(layer, field) {
    const declared = layer?.anomaly ?? {}
    if (!Object.hasOwn(declared, field)) return undefined
    return `declared as ${declared[field as keyof DeclaredAnomaly]}: change it in spec.ticketing.anomaly of the LogPipeline`
  },
  llm: layer => (layer?.llm === undefined ? undefined : 'declared: change it in spec.ticketing.llm of the LogPipeline'),
  escalation: () => undefined,
}

/** Throws `HttpError` 409. */
export function refuseDeclared(section: SectionName, change: object, layer: Layer): void {
  const problems = Object.keys(change).flatMap(field => {
    const problem = OWNERS[section](layer, field)
    return problem === undefined ? [] : [`${field}: ${problem}`]
  })
  if (problems.length > 0) throw new HttpError(409, problems.join('; '))
}
