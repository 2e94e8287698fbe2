/** Objects as tests look at them. */
import type { V1PodTemplateSpec } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'

export interface WorkloadView extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly template: V1PodTemplateSpec
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
  }
}

export function workloadsOf(objects: readonly KubernetesObject[]): readonly WorkloadView[] {
  return objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet') as WorkloadView[]
}

export function workloadOf(objects: readonly KubernetesObject[], name: string): WorkloadView {
  return workloadsOf(objects).find(({ metadata }) => metadata.name === name)!
}

export function podOf(workload: WorkloadView) {
  return workload.spec.template.spec!
}

export function containerOf(workload: WorkloadView) {
  return podOf(workload).containers[0]!
}

export interface MountedFile {
  readonly kind: string
  readonly name: string
  readonly key: string
  /** Left out while it is not there. */
  readonly isOptional: boolean
}

/** Stands for the files of an object of which every key is mounted. */
const ALL_KEYS = [{ key: '*', path: '*' }]

/** Path of each file that is mounted → object and key that it comes from. */
export function mountedFiles(workload: WorkloadView): ReadonlyMap<string, MountedFile> {
  const volumes = new Map((podOf(workload).volumes ?? []).map(volume => [volume.name, volume.projected?.sources ?? []]))
  const files = (containerOf(workload).volumeMounts ?? []).flatMap(({ name, mountPath }) =>
    (volumes.get(name) ?? []).flatMap(({ secret, configMap }) => {
      const { name, optional = false } = (secret ?? configMap)!
      const source = { kind: secret === undefined ? 'ConfigMap' : 'Secret', name: name!, isOptional: optional }
      return ((secret ?? configMap)!.items ?? ALL_KEYS).map(({ key, path }) => [`${mountPath}/${path}`, { ...source, key }] as const)
    }),
  )
  return new Map(files)
}
