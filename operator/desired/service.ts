import type { V1Service, V1ServicePort } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Component } from '../api/components.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { typed } from './typed-object.ts'

export interface ServiceDescription {
  readonly name: string
  /** The component in the label of the Service. */
  readonly component: Component
  /** The component whose pods the Service leads to, where that is another (AllInOne). */
  readonly pods?: Component
  readonly ports: readonly ServicePortDescription[]
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  /** No address of its own: the name stands for the addresses of the pods. */
  readonly isHeadless?: true
  readonly annotations?: Readonly<Record<string, string>>
}

export interface ServicePortDescription {
  /** Names the port of the Service and of the pod. */
  readonly name: string
  readonly port: number
  /** Name of the pod's port, where it is another. */
  readonly target?: string
  readonly appProtocol?: string
}

export function buildService(context: PipelineContext, description: ServiceDescription): KubernetesObject {
  const { name, component, pods = component, ports, type = 'ClusterIP', isHeadless, annotations } = description
  const metadata = metadataOf(context, name, component)
  return typed<V1Service>(annotations === undefined ? metadata : { ...metadata, annotations }, {
    apiVersion: 'v1',
    kind: 'Service',
    spec: {
      type,
      ...(isHeadless ? { clusterIP: 'None' } : {}),
      selector: { ...selectorLabels(context, pods) },
      ports: ports.map(servicePort),
    },
  })
}

function servicePort({ name, port, target = name, appProtocol }: ServicePortDescription): V1ServicePort {
  return { name, port, targetPort: target, protocol: 'TCP', ...(appProtocol === undefined ? {} : { appProtocol }) }
}
