/** The chart as an administrator installs it, with Helm. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Kubectl } from '../../../dataplane/testing/cluster/kubectl.ts'
import { findTool, run } from '../../../dataplane/testing/real/go-tools.ts'
import { PRODUCT_IMAGE } from '../../testing/product-image.ts'

export interface Release {
  readonly namespace: string
  /** `helm upgrade --install --wait`: resolves once the operator serves. */
  install(values?: Readonly<Record<string, string>>): Promise<void>
  uninstall(): Promise<void>
}

const CHART = resolve(import.meta.dirname, '../../../charts/logpipeline')
const NAME = 'logpipeline'
/** Helm is compiled when the machine has none. */
const TOOL_LIMIT_MS = 10 * 60_000

/** A release with the image `PRODUCT_IMAGE`, which the node holds. */
export async function createRelease({ kubeconfig }: Kubectl): Promise<Release> {
  const helm = await findTool('helm3', TOOL_LIMIT_MS)
  const namespace = `operator-${randomUUID().slice(0, 5)}`
  const helmOf = (...args: readonly string[]) =>
    run(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfig], { limitMs: 240_000 })
  const [repository, tag] = PRODUCT_IMAGE.split(':') as [string, string]
  return {
    namespace,
    async install(values = {}) {
      const all = { 'image.repository': repository, 'image.tag': tag, 'image.pullPolicy': 'Never', 'crds.keep': 'false', ...values }
      const sets = Object.entries(all).flatMap(([name, value]) => ['--set', `${name}=${value}`])
      await helmOf('upgrade', '--install', NAME, CHART, '--create-namespace', '--wait', '--timeout=3m', ...sets)
    },
    async uninstall() {
      await helmOf('uninstall', NAME, '--wait', '--ignore-not-found')
    },
  }
}
