import { FIELD_MANAGER } from '../api/names.ts'
import type { KubernetesObject } from '../kube/object.ts'

/** Whether somebody else than the operator set `spec.replicas` last: an autoscaler, or `kubectl scale`. */
export function isScaledByOthers(workload: KubernetesObject): boolean {
  return (workload.metadata.managedFields ?? []).some(({ manager, fieldsV1 }) => manager !== FIELD_MANAGER && ownsReplicas(fieldsV1))
}

function ownsReplicas(fields: Readonly<Record<string, unknown>> | undefined): boolean {
  const spec = fields?.['f:spec'] as Readonly<Record<string, unknown>> | undefined
  return spec?.['f:replicas'] !== undefined
}
