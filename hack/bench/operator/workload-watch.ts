/** Sees when the cluster has rolled the pods of a pipeline out: what comes after that is the operator's. */
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { ObjectStore } from '../../../dataplane/kube/informers/object-store.ts'
import { Reflector } from '../../../dataplane/kube/informers/reflector.ts'
import type { KubeClient } from '../../../dataplane/kube/kube-client.ts'
import type { Resource } from '../../../dataplane/kube/resource.ts'
import { SILENT } from '../../../dataplane/telemetry/log.ts'
import type { Workload } from '../../../operator/observed/foreign-kinds.ts'
import { workloadState } from '../../../operator/observed/workloads/workload-state.ts'
import { pipelineOf } from './pipelines.ts'

export interface WorkloadWatch {
  /** By pipeline, when the last of its workloads turned rolled out (ms since the epoch). */
  rolledOutMs(): ReadonlyMap<string, number>
  stop(): Promise<void>
}

const WORKLOADS: readonly Resource[] = [
  { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true },
]

export async function watchWorkloads(client: KubeClient): Promise<WorkloadWatch> {
  const rolledOutMs = new Map<string, number>()
  const reflectors = WORKLOADS.map(resource => {
    const store = new ObjectStore()
    store.onChange(({ before, after }) => {
      const pipeline = pipelineOf(after?.metadata.name)
      if (pipeline !== undefined && isRolledOut(after) && !isRolledOut(before)) rolledOutMs.set(pipeline, Date.now())
    })
    const reflector = new Reflector({ resource }, store, { client, clock: systemClock, log: SILENT, random: Math.random })
    reflector.start()
    return reflector
  })
  await Promise.all(reflectors.map(({ synced }) => synced))
  return {
    rolledOutMs: () => new Map(rolledOutMs),
    async stop() {
      await Promise.all(reflectors.map(reflector => reflector.stop()))
    },
  }
}

function isRolledOut(workload: object | undefined): boolean {
  return workload !== undefined && workloadState(workload as Workload, []).isRolledOut
}
