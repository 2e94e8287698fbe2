import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'

/** Whether an autoscaler or a user (`kubectl scale`) set `spec.replicas` last, not the operator. */
export function isScaledByOthers({ metadata }: KubernetesObject): boolean {
  const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas'] !== undefined)
  return owners.some(({ manager }) => manager !== OPERATOR_NAME)
}
