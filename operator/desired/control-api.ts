/** Components that are one Deployment with one HTTP API. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { buildDeployment, buildDisruptionBudget } from './deployment.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import { componentName, type PipelineContext } from './pipeline-context.ts'
import type { PodDescription } from './pod-template.ts'
import { buildService } from './service.ts'
import { plainServiceAccount } from './service-account.ts'

type ControlApi = Omit<PodDescription, 'ports' | 'ready' | 'alive' | 'serviceAccount'> & {
  readonly port: number
  /** Path that answers 200 when requests can be served. */
  readonly ready: string
  readonly alive: string
  readonly serviceAccount?: string
}

export function buildControlApi(context: PipelineContext, { port, ready, alive, ...pod }: ControlApi): readonly KubernetesObject[] {
  const { component } = pod
  return [
    buildDeployment(context, {
      serviceAccount: plainServiceAccount(context),
      ...pod,
      ports: { http: port },
      ready: { path: ready, port: 'http' },
      alive: { path: alive, port: 'http' },
    }),
    ...buildDisruptionBudget(context, component),
    buildService(context, { name: componentName(context, component), component, ports: [{ name: 'http', port, appProtocol: 'http' }] }),
    ...buildNetworkPolicy(context, component, { open: [], control: ['http'] }),
  ]
}
