/** One LogPipeline as its owner sees it. */
import { type ClusterObject, type Kubectl, until } from '../../../dataplane/testing/cluster/kubectl.ts'
import { forwardPort } from '../../../dataplane/testing/cluster/port-forward.ts'

export interface PipelineView {
  /** Its condition of that type, of its newest generation. */
  condition(type: string): Promise<ClusterObject | undefined>
  /** Resolves once the condition is so. */
  waitFor(type: string, expected: { readonly status: 'True' | 'False' | 'Unknown'; readonly reason?: string }): Promise<ClusterObject>
  /** By `kubectl wait`, as a user does. */
  waitUntilReady(): Promise<void>
  /** Asks one of its Services, by the name of the component. */
  at<T>(component: string, port: number, ask: (url: string) => Promise<T>): Promise<T>
}

export function viewPipeline(kubectl: Kubectl, namespace: string, name: string): PipelineView {
  const condition = async (type: string) => {
    const { status, metadata } = await kubectl.get('logpipeline', name, namespace)
    const found = status?.conditions?.find((one: { type: string }) => one.type === type)
    return found?.observedGeneration === metadata.generation ? found : undefined
  }
  return {
    condition,
    async waitFor(type, { status, reason }) {
      let seen: ClusterObject
      try {
        return await until(
          type,
          async () => {
            seen = await condition(type)
            return seen?.status === status && (reason === undefined || seen.reason === reason) ? seen : undefined
          },
          120_000,
        )
      } catch (error) {
        throw new Error(`${type}: expected ${status} ${reason ?? ''}, seen ${JSON.stringify(seen)}`, { cause: error })
      }
    },
    async waitUntilReady() {
      await kubectl.run(['wait', '--namespace', namespace, '--for=condition=Ready', '--timeout=180s', `logpipeline/${name}`])
    },
    async at(component, port, ask) {
      const forward = await forwardPort(kubectl.kubeconfig, namespace, `service/${name}-${component}`, port)
      try {
        return await ask(forward.url)
      } finally {
        await forward.stop()
      }
    },
  }
}
