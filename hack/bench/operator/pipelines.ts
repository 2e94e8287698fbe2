/** The `LogPipeline`s that are measured, and what they need of the cluster. */
import type { KubeClient } from '../../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import type { Resource } from '../../../dataplane/kube/resource.ts'
import type { LogPipeline } from '../../../operator/api/log-pipeline.ts'
import { LOG_PIPELINES, SECRETS } from '../../../operator/controllers/kinds.ts'
import { expectAnswer, forEach } from './cluster.ts'

export const MODES = ['AllInOne', 'Distributed'] as const
export type Mode = (typeof MODES)[number]

export interface PipelineSet {
  readonly mode: Mode
  readonly count: number
  /** Over how many namespaces they are spread: a Secret is shared by all of one. */
  readonly namespaces: number
}

/** How many requests of the benchmark itself are under way. */
const AT_ONCE = 16
const SHARED_SECRET = 'shared'
const STORAGE_CLASS = 'bench'

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }
const VOLUMES: Resource = { group: '', version: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes', namespaced: false }
const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
}

/** Every name is as long as all others, so that none begins with another. */
export const pipelineName = (index: number) => `p${String(index).padStart(5, '0')}`
/** Name of the pipeline that an object belongs to; undefined for others. */
export const pipelineOf = (objectName: string | undefined) => /^p\d{5}(?=$|[-.])/.exec(objectName ?? '')?.[0]

const namespaceName = (index: number) => `bench-${index}`

/** Namespaces, the Secrets, and volumes that claims are bound to. */
export async function prepare(client: KubeClient, { mode, count, namespaces }: PipelineSet): Promise<void> {
  const create = async (resource: Resource, object: KubernetesObject) => expectAnswer(await client.create(resource, object))
  for (let i = 0; i < namespaces; i++) {
    await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceName(i) } })
    await create(SECRETS, sharedSecret(namespaceName(i), 'first'))
  }
  if (mode !== 'AllInOne') return
  await create(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: STORAGE_CLASS },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'Immediate',
  })
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: STORAGE_CLASS, hostPath: { path: '/tmp' } }
  await forEach(indexes(count), AT_ONCE, index =>
    create(VOLUMES, { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `volume-${index}` }, spec }),
  )
}

/** Creates them all; by name, when each was sent (ms since the epoch). */
export async function applyPipelines(client: KubeClient, set: PipelineSet): Promise<ReadonlyMap<string, number>> {
  const sentMs = new Map<string, number>()
  await forEach(indexes(set.count), AT_ONCE, async index => {
    sentMs.set(pipelineName(index), Date.now())
    expectAnswer(await client.create(LOG_PIPELINES, pipelineObject(set, index)))
  })
  return sentMs
}

/** A change that makes the operator look at each pipeline and find nothing to do. */
export async function annotatePipelines(client: KubeClient, pipelines: readonly KubernetesObject[], text: string): Promise<void> {
  await forEach(pipelines, AT_ONCE, async ({ metadata: { name, namespace = '' } }) => {
    const found = expectAnswer(await client.get(LOG_PIPELINES, { name, namespace }))
    const annotations = { ...found.metadata.annotations, 'example.com/seen': text }
    expectAnswer(await client.replace(LOG_PIPELINES, { ...found, metadata: { ...found.metadata, annotations } }))
  })
}

export async function rotateSecrets(client: KubeClient, { namespaces }: PipelineSet, password: string): Promise<void> {
  for (let i = 0; i < namespaces; i++) expectAnswer(await client.replace(SECRETS, sharedSecret(namespaceName(i), password)))
}

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)

function sharedSecret(namespace: string, password: string): KubernetesObject {
  const metadata = { name: SHARED_SECRET, namespace }
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { username: 'admin', password } }
}

const CREDENTIALS = { secret: { name: SHARED_SECRET } }
const FAKE_NODES = { nodeSelector: { type: 'kwok' }, tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists' as const }] }

const SPECS: Readonly<Record<Mode, Partial<LogPipeline['spec']>>> = {
  AllInOne: {
    allInOne: { storage: { size: '1Gi', storageClassName: STORAGE_CLASS } },
    search: { endpoint: 'https://search:9200', credentials: CREDENTIALS },
  },
  Distributed: {
    bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed' },
    search: { endpoint: 'https://search:9200', credentials: CREDENTIALS },
  },
}

function pipelineObject({ mode, namespaces }: PipelineSet, index: number): KubernetesObject {
  const name = pipelineName(index)
  return {
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'LogPipeline',
    metadata: { name, namespace: namespaceName(index % namespaces) },
    spec: { mode, tenant: name, podTemplate: FAKE_NODES, ...SPECS[mode] },
  }
}
