/** The cluster of a suite by kubectl, an eye that is not ours. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { backendAddress } from '../real/address.ts'
import { run } from '../real/go-tools.ts'
import { type KubernetesName, kubectlPath } from '../real/kubernetes-server.ts'

/** An object of Kubernetes as it comes; tests name the fields that they read. */
// biome-ignore lint/suspicious/noExplicitAny: every kind has fields of its own
export type ClusterObject = any

export interface Kubectl {
  readonly kubeconfig: string
  /** Standard output; rejects with standard error. */
  run(args: readonly string[], input?: string): Promise<string>
  /** Server-side apply, as a user of the name `tester`. */
  apply(...objects: readonly object[]): Promise<void>
  /** `undefined` when it is not there. */
  get(kind: string, name: string, namespace?: string): Promise<ClusterObject | undefined>
  list(kind: string, ...args: readonly string[]): Promise<readonly ClusterObject[]>
  remove(kind: string, name: string, namespace?: string, ...args: readonly string[]): Promise<void>
  /** A namespace of its own; `close` deletes it and waits until it is gone. */
  namespace(prefix: string): Promise<{ readonly name: string; close(): Promise<void> }>
}

/** The one that was built with the clusters, else that of the machine. */
export const kubectlProgram = () => (existsSync(kubectlPath()) ? kubectlPath() : 'kubectl')

export function createKubectl(cluster: KubernetesName): Kubectl {
  const kubeconfig = backendAddress(cluster)
  const program = kubectlProgram()
  const runKubectl = (args: readonly string[], input?: string) =>
    run(program, ['--kubeconfig', kubeconfig, ...args], { limitMs: 240_000, ...(input !== undefined && { input }) })
  const inNamespace = (namespace: string | undefined) => (namespace === undefined ? [] : ['--namespace', namespace])
  const self: Kubectl = {
    kubeconfig,
    run: runKubectl,
    async apply(...objects) {
      const list = { apiVersion: 'v1', kind: 'List', items: objects }
      await runKubectl(['apply', '--server-side', '--field-manager=tester', '--force-conflicts', '--filename=-'], JSON.stringify(list))
    },
    async get(kind, name, namespace) {
      const text = await runKubectl(['get', kind, name, ...inNamespace(namespace), '--ignore-not-found', '--output=json'])
      return text === '' ? undefined : JSON.parse(text)
    },
    async list(kind, ...args) {
      return JSON.parse(await runKubectl(['get', kind, ...args, '--output=json'])).items
    },
    async remove(kind, name, namespace, ...args) {
      await runKubectl(['delete', kind, name, ...inNamespace(namespace), '--ignore-not-found', ...args])
    },
    async namespace(prefix) {
      const name = `${prefix}-${Math.random().toString(36).slice(2, 7)}`
      await runKubectl(['create', 'namespace', name])
      // Pods need it, and a controller makes it.
      await until(`the service account of ${name}`, async () => (await self.get('serviceaccount', 'default', name)) !== undefined)
      return { name, close: () => self.remove('namespace', name) }
    },
  }
  return self
}

/** Asks until it is so; rejects after the limit with what was asked and seen last. */
export async function until<T>(what: string, ask: () => Promise<T> | T, limitMs = 60_000): Promise<NonNullable<T>> {
  const deadlineMs = Date.now() + limitMs
  for (let failure: unknown; ; ) {
    try {
      const answer = await ask()
      failure = undefined
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<T>
    } catch (error) {
      failure = error
    }
    if (Date.now() > deadlineMs) throw new Error(`${what}: not within ${limitMs / 1000} s`, { cause: failure })
    await sleep(250)
  }
}
