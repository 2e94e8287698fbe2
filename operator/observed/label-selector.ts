import type { LabelSelector } from '../api/component-specs.ts'
import { ownOf } from './gathered.ts'

type Labels = Readonly<Record<string, string>>

/** Whether a `metav1.LabelSelector` matches an object with these labels. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => ownOf(labels, key) === value) &&
    matchExpressions.every(rule => matches(rule, labels))
  )
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

function matches({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const value = ownOf(labels, key)
  switch (operator) {
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
  }
}
