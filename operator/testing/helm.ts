/** The chart as an administrator installs it with Helm, in a namespace of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Kubectl } from '../../dataplane/testing/cluster/kubectl.ts'
import { run } from '../../dataplane/testing/real/go-tools.ts'

export const CHART_PATH = resolve(import.meta.dirname, '../../charts/logpipeline')

export interface Helm {
  /** `helm upgrade --install --wait` of the present chart, or of that at the path: resolves once its pods are ready. */
  install(values?: object, chart?: string): Promise<void>
  uninstall(): Promise<void>
  /** Manifests, as text. */
  template(values?: object): Promise<string>
  /** Standard output; rejects with standard error. */
  run(args: readonly string[], input?: string): Promise<string>
  close(): void
}

/** `program`: Helm 3 or 4. What it keeps on disk is its own. */
export function createHelm(program: string, { kubeconfig }: Kubectl, release: string, namespace: string): Helm {
  const directory = mkdtempSync(join(tmpdir(), 'helm-'))
  const env = { HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory, KUBECONFIG: kubeconfig }
  const runHelm = (args: readonly string[], input = '') =>
    run(program, [...args, '--namespace', namespace], { limitMs: 180_000, env, input })
  return {
    run: runHelm,
    async install(values = {}, chart = CHART_PATH) {
      const args = ['upgrade', '--install', release, chart, '--create-namespace', '--wait', '--timeout=2m', '--values=-']
      await runHelm(args, JSON.stringify(values))
    },
    async uninstall() {
      await runHelm(['uninstall', release, '--wait', '--ignore-not-found', '--timeout=2m'])
    },
    template: (values = {}) => runHelm(['template', release, CHART_PATH, '--values=-'], JSON.stringify(values)),
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}
