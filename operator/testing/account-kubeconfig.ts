/** A kubeconfig with the token of a service account. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Kubectl } from '../../dataplane/testing/cluster/kubectl.ts'

export interface AccountKubeconfig {
  readonly path: string
  close(): void
}

/** Its namespace is the current one. */
export async function accountKubeconfig(kubectl: Kubectl, namespace: string, name: string): Promise<AccountKubeconfig> {
  const token = (await kubectl.run(['create', 'token', name, '--namespace', namespace])).trim()
  const admin = parse(readFileSync(kubectl.kubeconfig, 'utf8'))
  const contexts = [{ name: 'it', context: { cluster: admin.clusters[0].name, user: name, namespace } }]
  const config = { ...admin, users: [{ name, user: { token } }], contexts, 'current-context': 'it' }
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-account-'))
  const path = join(directory, 'kubeconfig')
  writeFileSync(path, stringify(config), { mode: 0o600 })
  return { path, close: () => rmSync(directory, { recursive: true }) }
}
