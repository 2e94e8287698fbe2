/** Finds the API server and who we are there: in a kubeconfig, or in the pod that we run in. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProxyEnvironment, proxyEnvironment, proxyFor, proxyProblem, proxyVariable } from '../http/proxy-choice.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { KubeconfigError, type KubeconfigFile, parseKubeconfig } from './kubeconfig.ts'

/** The variables that decide; the caller reads them. */
export interface AccessEnvironment extends ProxyEnvironment {
  /** One or several paths, separated by colons; a file that is not there is left out. */
  readonly KUBECONFIG?: string | undefined
  readonly KUBERNETES_SERVICE_HOST?: string | undefined
  readonly KUBERNETES_SERVICE_PORT?: string | undefined
  readonly HOME?: string | undefined
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `KUBECONFIG` if it is set, else the pod's service account; undefined without either. Throws `KubeconfigError`. */
export function findClusterAccess(environment: AccessEnvironment, serviceAccountDir = SERVICE_ACCOUNT): ClusterAccess | undefined {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (KUBECONFIG) return fromKubeconfig(KUBECONFIG.split(':').filter(Boolean), environment)
  if (host && existsSync(join(serviceAccountDir, 'token')))
    return keepFresh(() => withProxy(inClusterAccess(host, port, serviceAccountDir), environment))
  return undefined
}

/** As `findClusterAccess`, else `~/.kube/config`. Throws `KubeconfigError`, also when there is none of them. */
export function loadClusterAccess(environment: AccessEnvironment, serviceAccountDir = SERVICE_ACCOUNT): ClusterAccess {
  const found = findClusterAccess(environment, serviceAccountDir)
  if (found !== undefined) return found
  const path = join(environment.HOME ?? '/', '.kube', 'config')
  if (!existsSync(path))
    throw new KubeconfigError(
      `no cluster: expected KUBECONFIG, a service account under ${serviceAccountDir}, or ${path}; found none of them`,
    )
  return fromKubeconfig([path], environment)
}

/** The problem of a kubeconfig as one of the setting that names it, unless it names a variable of its own. */
export function settingProblem({ message }: KubeconfigError): string {
  return /^[A-Z_]+: /.test(message) ? message : `KUBECONFIG: ${message}`
}

function fromKubeconfig(paths: readonly string[], environment: ProxyEnvironment): ClusterAccess {
  const { context } = parseKubeconfig(readConfigs(paths))
  return keepFresh(() => withProxy(parseKubeconfig(readConfigs(paths), context).access, environment))
}

function keepFresh(read: () => ClusterAccess): ClusterAccess {
  return { ...read(), reread: read }
}

function withProxy(access: ClusterAccess, environment: ProxyEnvironment): ClusterAccess {
  const proxyUrl = access.proxyUrl ?? proxyFor(access.server, environment)
  if (proxyUrl === undefined) return access
  const problem = proxyProblem(proxyUrl, access.proxyUrl === undefined ? proxyVariable(access.server) : 'kubeconfig: proxy-url')
  if (problem !== undefined) throw new KubeconfigError(problem)
  return { ...access, proxyUrl }
}

/** Variables that the kubelet and proxies need set; they are no settings of ours. */
export function podEnvironment(): AccessEnvironment {
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, HOME } = process.env
  return { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, HOME, ...proxyEnvironment() }
}

function inClusterAccess(host: string, port: string, dir: string): ClusterAccess {
  const namespaceFile = join(dir, 'namespace')
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca: readFileSync(join(dir, 'ca.crt'), 'utf8'), insecure: false },
    auth: { tokenFile: join(dir, 'token') },
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : 'default',
  }
}

/** As kubectl, goes on without files that are not there, unless there is none at all. */
function readConfigs(paths: readonly string[]): readonly KubeconfigFile[] {
  const found = paths.flatMap(path => readConfig(path) ?? [])
  if (found.length === 0) throw new KubeconfigError(`KUBECONFIG: expected a readable file, seen ${paths.join(':')} (ENOENT)`)
  return found
}

function readConfig(path: string): KubeconfigFile | undefined {
  try {
    return { path, text: readFileSync(path, 'utf8') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new KubeconfigError(`KUBECONFIG: expected a readable file, seen ${path} (${code})`)
  }
}
