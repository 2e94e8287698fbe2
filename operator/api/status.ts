/** The status of both kinds. */
import { z } from 'zod'
import { annotated, described } from './schema.ts'

/** As of `metav1.Time`. */
const TIME = z.string().meta({ format: 'date-time' })

const CONDITION_TYPE = z
  .string()
  .max(316)
  .regex(/^[A-Za-z][A-Za-z0-9]*$/)

/** As of `metav1.Condition`. */
export const CONDITION = z.object({
  type: described(CONDITION_TYPE, 'What is spoken of, such as Ready.'),
  status: described(z.enum(['True', 'False', 'Unknown']), 'Whether it is so.'),
  observedGeneration: described(z.int().min(0), 'The generation that the condition speaks of.').optional(),
  lastTransitionTime: annotated(TIME, { description: 'When status changed last.' }),
  reason: described(z.string().min(1).max(1_024), 'Why, in one precise word.'),
  message: described(z.string().max(32_768), 'Why, in a sentence that names the field or the object.'),
})
export type Condition = Readonly<z.output<typeof CONDITION>>

/** The condition of that type which the object has, be it ours or of Kubernetes. */
export function conditionOf<C extends { readonly type: string }>(
  { status }: { readonly status?: { readonly conditions?: readonly C[] | undefined } | undefined },
  type: string,
): C | undefined {
  return status?.conditions?.find(condition => condition.type === type)
}

export const CONDITIONS = annotated(z.array(CONDITION).max(64), {
  description: 'What is so, and why.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
})

const COMPONENT_STATUS = z.object({
  desired: described(z.int(), 'Pods that are wanted.'),
  ready: described(z.int(), 'Pods that are ready.'),
  updated: described(z.int(), 'Pods of the newest version.'),
  image: described(z.string(), 'Image that the pods are to run.').optional(),
  message: described(z.string(), 'Why pods are not ready.').optional(),
})
export type ComponentStatus = Readonly<z.output<typeof COMPONENT_STATUS>>

const OBSERVED_GENERATION = described(z.int(), 'The generation that this status speaks of.')

export const LOG_PIPELINE_STATUS = described(
  z.object({
    observedGeneration: OBSERVED_GENERATION.optional(),
    conditions: CONDITIONS.optional(),
    components: described(z.record(z.string(), COMPONENT_STATUS), 'Pods of each component.').optional(),
    endpoints: described(z.record(z.string(), z.string()), 'Addresses within the cluster.').optional(),
    topicPrefix: described(z.string(), 'What the names of the topics begin with.').optional(),
    inputsHash: described(z.string(), 'Hash over everything that the pods are made from.').optional(),
    selector: described(z.string(), 'Label selector of the pods of the bridge (scale subresource).').optional(),
    replicas: described(z.int(), 'Pods of the bridge (scale subresource).').optional(),
  }),
  'What is so.',
)
export type LogPipelineStatus = Readonly<z.output<typeof LOG_PIPELINE_STATUS>>

const POD_COUNTS = z.object({
  pod: described(z.string(), 'Name of the pod.'),
  since: described(z.string(), 'When its process began.'),
  dispatched: described(z.int(), 'What its counter of dispatches said last.'),
  failed: described(z.int(), 'What its counter of failures said last.'),
})

export const TICKETING_ROUTE_STATUS = described(
  z.object({
    observedGeneration: OBSERVED_GENERATION.optional(),
    conditions: CONDITIONS.optional(),
    pipelines: described(z.array(z.string()), 'Pipelines that use the route.').optional(),
    target: described(
      z.string().max(64),
      'Platform id of the route in the ticketing API, such as slack or slack:payments; routes with the same settings and credentials share one.',
    ).optional(),
    dispatched: described(z.int(), 'What the target took: new incidents, and what became of them.').optional(),
    failed: described(z.int(), 'What the target was not told, as it refused or did not answer for a day.').optional(),
    lastDispatchTime: annotated(TIME, { description: 'When the target took something last.' }).optional(),
    counted: annotated(z.array(POD_COUNTS).max(100), {
      description: 'The counters of the pods as they were added to dispatched and failed, so that nothing counts twice.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['pod'],
    }).optional(),
  }),
  'What is so.',
)
export type TicketingRouteStatus = Readonly<z.output<typeof TICKETING_ROUTE_STATUS>>
