/** Volumes on the disk of the node: a storage class that hands out what was made before, and its volumes. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Kubectl } from '../../hack/cluster/kubectl.ts'

const STORAGE_CLASS = 'node-disk'

/** Makes the default storage class and one volume of 20 Gi, for a claim of any name. */
export async function makeVolume(kubectl: Kubectl, name: string): Promise<void> {
  const path = join(dirname(kubectl.kubeconfig), 'volumes', name)
  mkdirSync(path, { recursive: true })
  const [node] = await kubectl.list('nodes')
  const values = [node.metadata.name]
  await kubectl.apply(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity: { storage: '20Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: STORAGE_CLASS,
        local: { path },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }] },
        },
      },
    },
  )
}
