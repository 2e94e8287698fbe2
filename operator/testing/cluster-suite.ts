/** A suite's part of a real API server: a namespace of its own, a kubelet that is played, operators as processes. */
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { collectionPath } from '../../dataplane/kube/resource.ts'
import { createApiRequest } from '../../dataplane/testing/cluster/api-request.ts'
import { type FakeKubelet, startFakeKubelet } from '../../dataplane/testing/cluster/fake-kubelet.ts'
import { type ClusterObject, createKubectl, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { backendAddress } from '../../dataplane/testing/real/address.ts'
import { kubernetesAddress } from '../../dataplane/testing/real/kubernetes-server.ts'
import { LOG_PIPELINES, TICKETING_ROUTES } from '../controllers/kinds.ts'
import { type ClusterObjects, conditionOf, createClusterObjects } from './cluster-objects.ts'
import { PIPELINE, SECRET } from './objects.ts'
import { type OperatorProcess, startOperator } from './operator-process.ts'

export interface ClusterSuite {
  readonly kubectl: Kubectl
  readonly kubelet: FakeKubelet
  readonly namespace: string
  /** Objects of `namespace`. */
  readonly objects: ClusterObjects
  /** Once more, after they were deleted. */
  installOwnCrds(): Promise<void>
  /** Watches the whole cluster and leads at once, unless the settings say otherwise; its Lease is in the namespace. */
  startOperator(settings?: Readonly<Record<string, string>>): Promise<OperatorProcess>
  /** One more namespace. */
  namespaceBeside(): Promise<{ readonly name: string; readonly objects: ClusterObjects }>
  /** A pipeline of the namespace that runs once its Secret `search` is there. */
  pipeline(name: string, spec?: object, metadata?: object): ClusterObject
  /** Applies the pipeline and waits until it is Ready. */
  ready(name: string, spec?: object): Promise<ClusterObject>
  close(): Promise<void>
}

const CRD_FILES = ['logpipelines', 'ticketingroutes'].map(name => new URL(`../../crds/${name}.yaml`, import.meta.url))

const ownCrds = (): readonly ClusterObject[] =>
  CRD_FILES.flatMap(file => parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS()))

/** A cluster of somebody else is not ours to stop, nor are the resources in it ours to delete. */
export const isOwnCluster = () => backendAddress('kubernetes') === kubernetesAddress('kubernetes')

/** Resolves once the API server serves them. */
export async function installCrds(objects: ClusterObjects, crds: readonly ClusterObject[]): Promise<void> {
  for (const crd of crds) await objects.apply(crd)
  for (const { metadata } of crds)
    await objects.until(
      `${metadata.name} is served`,
      'CustomResourceDefinition',
      metadata.name,
      crd => conditionOf(crd, 'Established')?.status === 'True',
    )
}

export async function openClusterSuite(prefix: string): Promise<ClusterSuite> {
  const kubectl = createKubectl('kubernetes')
  const ask = createApiRequest(kubectl.kubeconfig)
  const opened: string[] = []
  const open = async () => {
    const { name } = await kubectl.namespace(prefix)
    opened.push(name)
    const objects = createClusterObjects(ask, name)
    await objects.apply({ ...SECRET, metadata: { name: 'search', namespace: name } })
    return { name, objects }
  }
  await installCrds(createClusterObjects(ask, 'default'), ownCrds())
  const { name: namespace, objects } = await open()
  const kubelet = startFakeKubelet(kubectl.kubeconfig)
  const operators = new Set<OperatorProcess>()
  const pipeline: ClusterSuite['pipeline'] = (name, spec = {}, metadata = {}) => ({
    ...PIPELINE,
    metadata: { name, namespace, ...metadata },
    spec: { ...(PIPELINE['spec'] as object), ...spec },
  })
  return {
    ...{ kubectl, kubelet, namespace, objects, pipeline },
    installOwnCrds: () => installCrds(objects, ownCrds()),
    async startOperator(settings) {
      const place = { POD_NAMESPACE: namespace, POD_NAME: `operator-${operators.size}`, LEADER_ELECTION: 'false' }
      const operator = await startOperator(kubectl.kubeconfig, { ...place, ...settings })
      operators.add(operator)
      operator.child.once('exit', () => operators.delete(operator))
      return operator
    },
    namespaceBeside: open,
    async ready(name, spec) {
      await objects.apply(pipeline(name, spec))
      return objects.condition('LogPipeline', name, 'Ready', 'True')
    },
    async close() {
      for (const operator of operators) await operator.stop('SIGKILL')
      // Operators of the next suites find nothing to do there; nobody waits for the end of the rest.
      for (const name of opened) {
        for (const kind of [LOG_PIPELINES, TICKETING_ROUTES]) await ask('DELETE', collectionPath(kind, name))
        await objects.remove('Namespace', name)
      }
      await kubelet.stop()
    },
  }
}

/** Resolves once the operator works: all is listed, and it leads. */
export async function untilReady({ url }: OperatorProcess, limitMs?: number): Promise<void> {
  await until('the operator has listed all', async () => (await fetch(`${url}/readyz`)).ok, limitMs)
}
