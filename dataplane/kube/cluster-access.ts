/** Where the API server is and who we are there, from a kubeconfig or from the pod that we run in. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExecConfig, KubeconfigError, parseKubeconfig } from './kubeconfig.ts'

export interface ClusterAccess {
  /** Such as `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string
  readonly tls: TlsConfig
  readonly proxyUrl?: string
  readonly auth: AuthConfig
  /** The namespace of the context, or of our own pod. */
  readonly namespace: string
}

export interface TlsConfig {
  /** PEM; missing: the authorities that Node knows. */
  readonly ca?: string
  readonly serverName?: string
  readonly insecure: boolean
}

/** What is given is used; a token and a certificate may stand together. */
export interface AuthConfig {
  readonly certificate?: Certificate
  readonly token?: string
  /** Read again once a minute: the kubelet replaces it. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
  readonly exec?: ExecConfig
}

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** The variables that decide; the caller reads them. */
export interface AccessEnvironment {
  /** One or several paths, separated by colons. */
  readonly KUBECONFIG?: string | undefined
  readonly KUBERNETES_SERVICE_HOST?: string | undefined
  readonly KUBERNETES_SERVICE_PORT?: string | undefined
  readonly HOME?: string | undefined
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `KUBECONFIG` if it is set, else the pod's service account; undefined without either. Throws `KubeconfigError`. */
export function findClusterAccess(environment: AccessEnvironment, serviceAccountDir = SERVICE_ACCOUNT): ClusterAccess | undefined {
  if (environment.KUBECONFIG) return parseKubeconfig(environment.KUBECONFIG.split(':').filter(Boolean).map(readConfig))
  if (environment.KUBERNETES_SERVICE_HOST && existsSync(join(serviceAccountDir, 'token')))
    return inClusterAccess(environment.KUBERNETES_SERVICE_HOST, environment.KUBERNETES_SERVICE_PORT ?? '443', serviceAccountDir)
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
  return parseKubeconfig([readConfig(path)])
}

/** What the kubelet sets in every pod; no settings of ours. */
export function podEnvironment(): AccessEnvironment {
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, HOME } = process.env
  return { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, HOME }
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

function readConfig(path: string): { readonly path: string; readonly text: string } {
  try {
    return { path, text: readFileSync(path, 'utf8') }
  } catch (error) {
    throw new KubeconfigError(`KUBECONFIG: expected a readable file, seen ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
}
