/** Fields that components share: number and size of pods. */
import { z } from 'zod'
import { annotated, count, described } from './schema.ts'

const MAX_REPLICAS = 1_000

export const REPLICAS = count(0, MAX_REPLICAS, 'Number of pods. Not looked at while an autoscaler owns it.')

/** An amount as Kubernetes writes it: 500m, 0.5, 1Gi. */
export function quantity(description: string) {
  const pattern = /^(\d+|\d+\.\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d+)?$/
  return annotated(z.union([z.int().min(0), z.string().max(32).regex(pattern)]), {
    description,
    'x-kubernetes-int-or-string': true,
  })
}

/** A volume of nothing cannot be made, and its claim not be changed. */
export function positiveQuantity(description: string) {
  const message = 'expected an amount above 0, such as 20Gi'
  return described(
    quantity(description).refine(value => (typeof value === 'string' ? ABOVE_ZERO.test(value) : value > 0), message),
    description,
    { rule: aboveZero('self'), message },
  )
}

/** Before an exponent or a suffix. */
const ABOVE_ZERO = /^[0.]*[1-9]/

/** In CEL, of an amount. */
export const aboveZero = (amount: string) => `(type(${amount}) == string ? ${amount}.matches(r'${ABOVE_ZERO.source}') : ${amount} > 0)`

const AMOUNTS = z.record(z.string(), quantity('Amount, such as 500m or 1Gi.')).meta({ maxProperties: 16 })

export const RESOURCES = described(
  z.object({
    requests: described(AMOUNTS, 'What a pod is given at least, by resource name.').optional(),
    limits: described(AMOUNTS, 'What a pod may use at most, by resource name.').optional(),
  }),
  'Resources of the container in mode Distributed; requests that are not given have defaults, at most the limits. Mode AllInOne has allInOne.resources.',
)
export type Resources = z.output<typeof RESOURCES>

const AUTOSCALING_SHAPE = {
  minReplicas: count(
    1,
    MAX_REPLICAS,
    'Least number of pods; when not given, as many as there are without an autoscaler (2 of collector and gateway, 1 of others), at most maxReplicas.',
  ).optional(),
  maxReplicas: count(1, MAX_REPLICAS, 'Greatest number of pods.'),
  targetCpuPercent: count(1, 1_000, 'CPU use that is aimed at, in percent of the request; 75 when not given.').optional(),
}

const MIN_MAX = {
  rule: '!has(self.minReplicas) || self.minReplicas <= self.maxReplicas',
  message: 'expected minReplicas to be at most maxReplicas',
  fieldPath: '.minReplicas',
}

export const AUTOSCALING = described(z.object(AUTOSCALING_SHAPE), 'Scales by CPU use (HorizontalPodAutoscaler).', MIN_MAX)

export const LAG_AUTOSCALING = described(
  z.object({
    ...AUTOSCALING_SHAPE,
    keda: described(z.boolean(), 'Scales by what waits on the bus instead (ScaledObject of KEDA, which has to be installed).').optional(),
    lagThreshold: count(1, 10_000_000, 'Messages that wait for each pod before KEDA adds one; 1000 when not given.').optional(),
  }),
  'Scales by CPU use (HorizontalPodAutoscaler), or by what waits on the bus (KEDA).',
  MIN_MAX,
)
export type Autoscaling = z.output<typeof LAG_AUTOSCALING>
