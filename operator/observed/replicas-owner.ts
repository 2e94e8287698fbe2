import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { FIELD_MANAGER } from '../api/names.ts'

/** Whether somebody else than the operator set `spec.replicas` last: an autoscaler, or `kubectl scale`. */
export function isScaledByOthers({ metadata }: KubernetesObject): boolean {
  const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas'] !== undefined)
  return owners.some(({ manager }) => manager !== FIELD_MANAGER)
}
