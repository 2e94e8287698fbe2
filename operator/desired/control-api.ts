/** Components that are one Deployment with one HTTP API. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName } from '../api/components.ts'
import { buildAutoscaler } from './autoscaler.ts'
import { buildDeployment, buildDisruptionBudget } from './deployment.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import type { PipelineContext } from './pipeline-context.ts'
import type { PodDescription } from './pod-template.ts'
import { buildService } from './service.ts'
import { plainServiceAccount } from './service-account.ts'

type ControlApi = Omit<PodDescription, 'ports' | 'ready' | 'alive' | 'serviceAccount'> & {
  readonly port: number
  /** Path that answers 200 when requests can be served. */
  readonly ready: string
  /** Path that answers 200 as long as a restart would not help. */
  readonly alive: string
  readonly serviceAccount?: string
  /** The name of the Service stands for the addresses of the pods. */
  readonly isHeadless?: true
  /** Namespaces that may reach it beside those that may reach all control APIs. */
  readonly allowFrom?: readonly Readonly<Record<string, string>>[] | undefined
}

export function buildControlApi(context: PipelineContext, description: ControlApi): readonly KubernetesObject[] {
  const { port, ready, alive, isHeadless, allowFrom = [], ...pod } = description
  const { component } = pod
  const name = componentName(context, component)
  return [
    buildDeployment(context, {
      serviceAccount: plainServiceAccount(context),
      ...pod,
      ports: { http: port },
      ready: { path: ready, port: 'http' },
      alive: { path: alive, port: 'http' },
    }),
    ...buildAutoscaler(context, component),
    ...buildDisruptionBudget(context, component),
    buildService(context, { name, component, ...(isHeadless && { isHeadless }), ports: [{ name: 'http', port, appProtocol: 'http' }] }),
    ...buildNetworkPolicy(context, component, { open: [], control: ['http'], guests: { ports: ['http'], namespaces: allowFrom } }),
  ]
}
