/** A control plane with fake nodes for the benchmark, and a user for the operator that has the rights of the chart. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse, stringify } from 'yaml'
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import type { ApiAnswer } from '../../../dataplane/kube/api-failure.ts'
import { createHttpKubeClient } from '../../../dataplane/kube/http-client.ts'
import type { KubeClient } from '../../../dataplane/kube/kube-client.ts'
import { parseKubeconfig } from '../../../dataplane/kube/kubeconfig.ts'
import { createKubectl, until } from '../../../dataplane/testing/cluster/kubectl.ts'
import {
  auditLogFile,
  isKubernetesUp,
  kubernetesAddress,
  startFakeNodes,
  startKubernetes,
  stopFakeNodes,
  stopKubernetes,
} from '../../../dataplane/testing/real/kubernetes-server.ts'
import { RUN_DIR } from '../../../dataplane/testing/real/place.ts'

export interface BenchCluster {
  /** An administrator, without a rate limit. */
  readonly client: KubeClient
  readonly operatorKubeconfig: string
  /** Log of the operator's requests alone. */
  readonly auditFile: string
  stop(): Promise<void>
}

const PROJECT = resolve(import.meta.dirname, '../../..')
export const OPERATOR_NAMESPACE = 'logpipeline-system'
const ACCOUNT = 'logpipeline-operator'
const CRDS = ['logpipelines', 'ticketingroutes']

/** Throws where one is up already: it would not tell of the operator's requests alone. */
export async function startBenchCluster(nodes: number): Promise<BenchCluster> {
  if (await isKubernetesUp('kubernetes'))
    throw new Error(
      `a cluster is up in ${RUN_DIR}: end it (hack/backends down kubernetes), or set BACKENDS_RUN and BACKENDS_KUBERNETES_PORT to others`,
    )
  process.env['CLUSTER_AUDIT'] = `system:serviceaccount:${OPERATOR_NAMESPACE}:${ACCOUNT}`
  await startKubernetes('kubernetes')
  try {
    await startFakeNodes(nodes)
    const client = createAdminClient()
    return {
      client,
      operatorKubeconfig: await installOperatorUser(),
      auditFile: auditLogFile('kubernetes'),
      async stop() {
        await client.close()
        await stopCluster()
      },
    }
  } catch (error) {
    await stopCluster()
    throw error
  }
}

async function stopCluster(): Promise<void> {
  await stopFakeNodes()
  await stopKubernetes('kubernetes')
}

function createAdminClient(): KubeClient {
  const path = kubernetesAddress('kubernetes')
  const { access } = parseKubeconfig([{ path, text: readFileSync(path, 'utf8') }])
  return createHttpKubeClient(access, { clock: systemClock, rateLimit: { take: async () => {} }, userAgent: 'bench' })
}

/** Resources and rights as the chart has them. The kubeconfig that the operator takes. */
async function installOperatorUser(): Promise<string> {
  const kubectl = createKubectl('kubernetes')
  const text = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
  await kubectl.apply(...CRDS.map(name => parse(text(`crds/${name}.yaml`)) as object))
  for (const name of CRDS) await kubectl.run(['wait', '--for=condition=Established', `crd/${name}.logpipeline.dev`])
  const metadata = { name: ACCOUNT, namespace: OPERATOR_NAMESPACE }
  const grant = (apiGroup: string, kind: string) => ({
    roleRef: { apiGroup, kind, name: ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  })
  const rbac = 'rbac.authorization.k8s.io'
  await kubectl.run(['create', 'namespace', OPERATOR_NAMESPACE])
  await kubectl.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: ACCOUNT },
      rules: parse(text('charts/logpipeline/files/operator-rules.yaml')),
    },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: ACCOUNT }, ...grant(rbac, 'ClusterRole') },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] }],
    },
    { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata, ...grant(rbac, 'Role') },
  )
  const token = await until('a token of the operator', () =>
    kubectl.run(['create', 'token', ACCOUNT, `--namespace=${OPERATOR_NAMESPACE}`, '--duration=24h']),
  )
  const config = parse(readFileSync(kubernetesAddress('kubernetes'), 'utf8'))
  config.users[0].user = { token: token.trim() }
  const path = join(RUN_DIR, 'kubernetes', 'operator.kubeconfig')
  writeFileSync(path, stringify(config), { mode: 0o600 })
  return path
}

/** The value of an answer; throws what the API server said. */
export function expectAnswer<T>(answer: ApiAnswer<T>): T {
  if (answer.ok) return answer.value
  throw new Error(answer.failure.message)
}

/** `work` for each of them, so many at a time. */
export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values()
  const run = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, run))
}
