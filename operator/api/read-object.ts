/**
 * A custom resource as the API server has it, held against its schema once more: where the CRD is of another release, or somebody weakened it, anything
 * may stand there.
 */
import type { z } from 'zod'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { shortened } from '../../dataplane/text/shortened.ts'
import { LOG_PIPELINE_SPEC, type LogPipeline, type LogPipelineSpec } from './log-pipeline.ts'
import { LOG_PIPELINE_STATUS, TICKETING_ROUTE_STATUS } from './status.ts'
import { TICKETING_ROUTE_SPEC, type TicketingRoute } from './ticketing-route.ts'

/** More are counted, not told; names that are longer are cut. */
const MAX_PROBLEMS = 5
const MAX_NAME = 64

/** Stand for a spec that cannot be used: it asks for nothing. */
const NO_PIPELINE = LOG_PIPELINE_SPEC.parse({ mode: 'AllInOne' })
const NO_ROUTE = TICKETING_ROUTE_SPEC.parse({ severities: ['low'], platform: 'email', credentials: {}, enabled: false })

/** Fields that the schema does not know are left out, and so is a status that is none. With `problems` the spec asks for nothing. */
export function readLogPipeline(object: KubernetesObject): LogPipeline {
  const spec = readSpec(LOG_PIPELINE_SPEC, object['spec'], missingParts)
  return {
    ...object,
    ...(spec.ok ? { spec: spec.value } : { spec: NO_PIPELINE, problems: spec.problems }),
    ...readStatus(LOG_PIPELINE_STATUS, object),
  }
}

/** Likewise. */
export function readTicketingRoute(object: KubernetesObject): TicketingRoute {
  const spec = readSpec(TICKETING_ROUTE_SPEC, object['spec'], () => [])
  return {
    ...object,
    ...(spec.ok ? { spec: spec.value } : { spec: NO_ROUTE, problems: spec.problems }),
    ...readStatus(TICKETING_ROUTE_STATUS, object),
  }
}

type ReadSpec<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly string[] }

function readSpec<T>(schema: z.ZodType<T>, given: unknown, rules: (value: T) => readonly string[]): ReadSpec<T> {
  const { success, data, error } = schema.safeParse(given)
  const found = success ? rules(data) : error.issues.map(describe)
  if (success && found.length === 0) return { ok: true, value: data }
  const more = found.length > MAX_PROBLEMS ? [`and ${found.length - MAX_PROBLEMS} more`] : []
  return { ok: false, problems: [...found.slice(0, MAX_PROBLEMS), ...more] }
}

/** Fields that cannot be read are left out, and written anew; what the others remember is not forgotten for them. */
function readStatus(schema: z.ZodObject, object: KubernetesObject): object {
  const given = object['status']
  if (given === undefined) return {}
  const { success, data } = schema.safeParse(given)
  if (success) return { status: data }
  const fields = Object.entries(schema.shape).flatMap(([name, field]) => {
    const { data } = (field as z.ZodType).safeParse((given as Readonly<Record<string, unknown>> | null)?.[name])
    return data === undefined ? [] : [[name, data]]
  })
  return { status: fields.length === 0 ? undefined : Object.fromEntries(fields) }
}

/** The parts that the CRD's rules ask for and without which nothing can be planned. */
function missingParts({ mode, bus, search, features }: LogPipelineSpec): readonly string[] {
  if (mode === 'AllInOne') return []
  const rules: readonly (readonly [holds: boolean, problem: string])[] = [
    [bus !== undefined, 'spec.bus: expected with mode Distributed, seen nothing'],
    [
      bus === undefined || (bus.bootstrapServers === undefined) !== (bus.strimzi === undefined),
      'spec.bus: expected exactly one of bootstrapServers and strimzi',
    ],
    [search?.endpoint !== undefined, 'spec.search.endpoint: expected with mode Distributed, seen nothing'],
    [
      features?.enabled !== true || features.onlineStore !== undefined,
      'spec.features.onlineStore: expected with mode Distributed, seen nothing',
    ],
  ]
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem)
}

function describe({ path, message }: z.core.$ZodIssue): string {
  const field = ['spec', ...path.map(part => (typeof part === 'number' ? `[${part}]` : `.${shortened(String(part), MAX_NAME)}`))].join('')
  return `${field}: ${message.replace(/^Invalid input: /, '').replace(/, received /, ', seen ')}`
}
