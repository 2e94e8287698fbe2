/** One installation of the chart on a real API server without nodes, and a namespace with pipelines; all of it is removed after. */

import { type ClusterObject, type Kubectl, until } from '../../../dataplane/testing/cluster/kubectl.ts'
import { createHelm, type Helm } from '../../testing/helm.ts'
import { PIPELINE, SECRET } from '../../testing/objects.ts'
import type { OperatorProcess } from '../../testing/operator-process.ts'
import { startReleasedOperator } from '../../testing/released-operator.ts'

export const RELEASE = 'logpipeline'
export const OPERATOR = 'logpipeline-operator'
export const CRDS = ['logpipelines.logpipeline.dev', 'ticketingroutes.logpipeline.dev']

export interface ChartTrial {
  readonly helm: Helm
  /** Namespace of the release; there once it is installed. */
  readonly system: string
  /** Namespace of the pipelines. */
  readonly shop: string
  /** Starts the operator as the release has it now; the one before is stopped. */
  startOperator(): Promise<OperatorProcess>
  stopOperator(): Promise<void>
  /** A pipeline `shop` of mode Distributed. */
  pipeline(spec?: object): ClusterObject
  untilReady(name?: string): Promise<void>
  /** `Kind/name` → what `of` tells of each object that runs the pipeline `shop`. */
  objects(of: (object: ClusterObject) => unknown): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

/** Kinds of what runs for a pipeline. */
const MADE = [
  ...['deployments', 'statefulsets', 'replicasets', 'services', 'configmaps', 'serviceaccounts', 'roles.rbac.authorization.k8s.io'],
  ...['rolebindings', 'poddisruptionbudgets', 'horizontalpodautoscalers', 'networkpolicies', 'pods'],
].join()

/** Nobody has the CRDs when it begins. */
export async function openChartTrial(kubectl: Kubectl, program: string): Promise<ChartTrial> {
  await removeClusterWide(kubectl)
  const shop = await kubectl.namespace('shop')
  const system = shop.name.replace('shop', 'system')
  await kubectl.apply({ ...SECRET, metadata: { name: 'search', namespace: shop.name } })
  const helm = createHelm(program, kubectl, RELEASE, system)
  let operator: OperatorProcess | undefined
  const stopOperator = async (): Promise<void> => {
    await operator?.stop()
    operator = undefined
  }
  return {
    ...{ helm, system, stopOperator, shop: shop.name },
    async startOperator() {
      await stopOperator()
      operator = await startReleasedOperator(kubectl, system)
      return operator
    },
    pipeline: (spec = {}) => ({
      ...PIPELINE,
      metadata: { name: 'shop', namespace: shop.name },
      spec: { ...(PIPELINE['spec'] as object), ...spec },
    }),
    async untilReady(name = 'shop') {
      await kubectl.run(['wait', `logpipeline/${name}`, '--namespace', shop.name, '--for=condition=Ready', '--timeout=120s'])
    },
    async objects(of) {
      const found = await kubectl.list(MADE, '--namespace', shop.name, '--selector', 'app.kubernetes.io/instance=shop')
      return Object.fromEntries(found.map(object => [`${object.kind}/${object.metadata.name}`, of(object)]))
    },
    async close() {
      await stopOperator()
      await helm.uninstall()
      helm.close()
      for (const name of [system, shop.name]) await kubectl.remove('namespace', name, undefined, '--wait=false')
      await removeClusterWide(kubectl)
    },
  }
}

/** Removes objects that a release may leave, and those of other suites; resolves once they are gone. */
export async function removeClusterWide(kubectl: Kubectl): Promise<void> {
  await kubectl.run(['delete', 'crd', ...CRDS, '--ignore-not-found'])
  await kubectl.run(['delete', 'clusterroles,clusterrolebindings', '--selector', `app.kubernetes.io/name=${OPERATOR}`])
}

/** Names of cluster-wide objects of the release. */
export async function clusterWide(kubectl: Kubectl): Promise<readonly string[]> {
  const roles = await kubectl.list('clusterroles,clusterrolebindings', '--selector', `app.kubernetes.io/name=${OPERATOR}`)
  const crds = await kubectl.list('crds')
  const names = [...roles, ...crds].map(({ metadata }) => metadata.name as string)
  return names.filter(name => name.includes('logpipeline'))
}

export const untilGone = (kubectl: Kubectl, kind: string, name: string, namespace?: string) =>
  until(`${kind} ${name} is gone`, async () => (await kubectl.get(kind, name, namespace)) === undefined)
