/** Advice where the API server refuses the pods of a component. */
import type { Component } from '../../api/components.ts'
import type { Effect, Problem } from '../finding.ts'

interface Refusal {
  /** Words of the API server. */
  readonly when: RegExp
  /** `resources` is the field of the component. */
  readonly advice: (resources: string) => string
  /** Absent: a quota may be free again by itself. Else the API server will refuse the pods again until somebody acts. */
  readonly effect?: Effect
}

const REFUSALS: readonly Refusal[] = [
  {
    when: /exceeded quota/,
    advice: resources => `the ResourceQuota of the namespace is used up: raise it, or ask for less in ${resources}`,
  },
  {
    when: /must specify/,
    advice: resources => `the ResourceQuota of the namespace asks for amounts that are not given: ${resources}`,
    effect: 'stalled',
  },
  {
    when: /(minimum|maximum|max limit to request ratio) .*per (Container|Pod)|must be less than or equal to \w+ limit/,
    advice: resources => `a LimitRange of the namespace bounds pods: expected ${resources} within it`,
    effect: 'stalled',
  },
  {
    when: /violates PodSecurity/,
    advice: () => 'the namespace asks for more than the pods keep to: see its labels pod-security.kubernetes.io/…',
    effect: 'stalled',
  },
  {
    when: /no PriorityClass/,
    advice: () => 'spec.podTemplate.priorityClassName: expected a PriorityClass of the cluster',
    effect: 'stalled',
  },
  {
    when: /RuntimeClass/,
    advice: () => 'spec.podTemplate.runtimeClassName: expected a RuntimeClass of the cluster',
    effect: 'stalled',
  },
]

/** The problem with the advice; as it is where none is known, such as that of a policy of somebody else. */
export function withAdvice(problem: Problem, component: Component | undefined): Problem {
  const refusal = REFUSALS.find(({ when }) => when.test(problem.message))
  if (refusal === undefined) return problem
  const { advice, effect } = refusal
  return { ...problem, message: `${problem.message}; ${advice(resourcesField(component))}`, ...(effect && { effect }) }
}

function resourcesField(component: Component | undefined): string {
  if (component === undefined) return 'the resources of the component'
  const owners: Readonly<Partial<Record<Component, string>>> = {
    standalone: 'allInOne',
    'stream-etl': 'stream',
    'stream-score': 'stream',
    scheduler: 'features',
  }
  return `spec.${owners[component] ?? component}.resources`
}
