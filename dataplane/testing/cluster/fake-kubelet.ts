/** Plays the kubelet where there is a control plane alone: pods turn Ready at once, or into what a test wants to see of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiRequest } from './api-request.ts'
import type { ClusterObject } from './kubectl.ts'

/** Status of a pod, or undefined to leave it as it is. */
export type PodFate = (pod: ClusterObject) => object | undefined

export interface FakeKubelet {
  /** Asked for each pod that is not yet as it says. */
  fate: PodFate
  stop(): Promise<void>
}

const PAUSE_MS = 200

/** Pods that are deleted go at once; all others get the status of `fate`, which is that of a running pod until told otherwise. */
export function startFakeKubelet(kubeconfig: string): FakeKubelet {
  const ask = createApiRequest(kubeconfig)
  const told = new Map<string, string>()
  let isStopping = false
  const kubelet: FakeKubelet = {
    fate: readyStatus,
    async stop() {
      isStopping = true
      await done
    },
  }
  const look = async (): Promise<void> => {
    const { items } = await ask('GET', '/api/v1/pods')
    for (const pod of items) {
      const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`
      if (pod.metadata.deletionTimestamp !== undefined) await ask('DELETE', path, { gracePeriodSeconds: 0 })
      else {
        const status = kubelet.fate(pod)
        const text = JSON.stringify(status)
        if (status === undefined || (told.get(pod.metadata.uid) === text && isScheduledAs(pod, status))) continue
        told.set(pod.metadata.uid, text)
        await ask('PATCH', `${path}/status`, { status })
      }
    }
  }
  const loop = async (): Promise<void> => {
    while (!isStopping) {
      await look().catch(() => undefined) // the API server may be away in a test
      await sleep(PAUSE_MS)
    }
  }
  const done = loop()
  return kubelet
}

/** The scheduler, which finds no node, may have had the last word. */
function isScheduledAs(pod: ClusterObject, status: ClusterObject): boolean {
  const said = ({ conditions = [] }: ClusterObject) => conditions.find(({ type }: ClusterObject) => type === 'PodScheduled')?.status
  return said(pod.status ?? {}) === said(status)
}

export function readyStatus({ spec }: ClusterObject): object {
  const containers = spec.containers.map(({ name, image }: { name: string; image: string }) => ({
    ...{ name, image, imageID: image, ready: true, started: true, restartCount: 0 },
    state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  }))
  return { phase: 'Running', conditions: conditionsOf('True'), containerStatuses: containers }
}

/** A container that waits, and why. */
export const waitingStatus =
  (reason: string, message: string, restartCount = 0): PodFate =>
  ({ spec }) => {
    const containers = spec.containers.map(({ name, image }: { name: string; image: string }) => ({
      ...{ name, image, imageID: '', ready: false, started: false, restartCount },
      state: { waiting: { reason, message } },
    }))
    return { phase: 'Pending', conditions: conditionsOf('False'), containerStatuses: containers }
  }

const conditionsOf = (ready: 'True' | 'False') => [
  { type: 'PodScheduled', status: 'True' },
  { type: 'ContainersReady', status: ready },
  { type: 'Ready', status: ready },
]
