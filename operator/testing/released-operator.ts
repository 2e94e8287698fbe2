/** The operator of a release as a process of this machine: with the settings of its Deployment and the rights of its service account. */

import { type ClusterObject, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { accountKubeconfig } from './account-kubeconfig.ts'
import { type OperatorProcess, startOperator } from './operator-process.ts'

/** Resolves once it serves and leads, as one of two pods would. Pods of the Deployment are played by the fake kubelet. */
export async function startReleasedOperator(kubectl: Kubectl, namespace: string, name = 'logpipeline-operator'): Promise<OperatorProcess> {
  const deployment = await kubectl.get('deployment', name, namespace)
  const { containers, serviceAccountName } = deployment.spec.template.spec
  const account = await accountKubeconfig(kubectl, namespace, serviceAccountName)
  const env: readonly ClusterObject[] = containers[0].env
  const settings = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
  // The settings of the release have it listen on all addresses.
  const place = { HOST: '127.0.0.1', KUBECONFIG: account.path, POD_NAMESPACE: namespace, POD_NAME: `${name}-0` }
  const operator = await startOperator(kubectl.kubeconfig, { ...settings, ...place })
  operator.child.once('exit', account.close)
  await until('the operator is ready', async () => (await fetch(`${operator.url}/readyz`)).ok)
  return operator
}
