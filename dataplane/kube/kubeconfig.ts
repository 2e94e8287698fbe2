/** Reads kubeconfig files, as kubectl does: several are merged, the first to name something wins. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import type { AuthConfig, ClusterAccess, ExecConfig } from './cluster-access.ts'
import type { Impersonation } from './impersonation.ts'
import type { OidcConfig } from './oidc-login.ts'

export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

export interface KubeconfigFile {
  readonly path: string
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>
/** An entry of `clusters`, `users` or `contexts`, and the folder that its relative paths start from. */
interface Entry {
  /** Such as `users admin`, for messages. */
  readonly where: string
  readonly fields: Fields
  readonly folder: string
}

/**
 * The access that a context gives; default: the current one, whose name comes with it. Throws `KubeconfigError` when it is missing, incomplete, or needs
 * something that is not supported.
 */
export function parseKubeconfig(
  files: readonly KubeconfigFile[],
  contextName?: string,
): { readonly access: ClusterAccess; readonly context: string } {
  const configs = files.map(({ path, text }) => ({ folder: dirname(resolve(path)), config: parseYaml(path, text) }))
  const find = (list: string, field: string, name: unknown): Entry => {
    for (const { folder, config } of configs)
      for (const entry of listOf(config[list], list))
        if (entry['name'] === name) return { where: `${list} ${String(name)}`, folder, fields: (entry[field] ?? {}) as Fields }
    throw new KubeconfigError(`kubeconfig: expected an entry named ${JSON.stringify(name)} in ${list}, found none`)
  }
  const current =
    contextName ?? configs.map(({ config }) => config['current-context']).find(name => typeof name === 'string' && name !== '')
  if (typeof current !== 'string') throw new KubeconfigError('kubeconfig: expected a current-context, found none')
  const context = find('contexts', 'context', current)
  const cluster = find('clusters', 'cluster', context.fields['cluster'])
  const user = textOf(context, 'user')
  const access: ClusterAccess = {
    ...clusterOf(cluster),
    ...(user === undefined ? { auth: {} } : userOf(find('users', 'user', user), cluster)),
    namespace: textOf(context, 'namespace') ?? 'default',
  }
  return { access, context: current }
}

function parseYaml(path: string, text: string): Fields {
  try {
    const config: unknown = parse(text) ?? {}
    if (typeof config !== 'object' || Array.isArray(config)) throw new Error('it is no mapping')
    return config as Fields
  } catch (error) {
    throw new KubeconfigError(`${path}: expected a kubeconfig: ${(error as Error).message}`)
  }
}

function clusterOf(cluster: Entry): Pick<ClusterAccess, 'server' | 'tls' | 'proxyUrl'> {
  const server = textOf(cluster, 'server')
  if (server === undefined || !URL.canParse(server))
    throw new KubeconfigError(`kubeconfig: ${cluster.where}: server: expected a URL, seen ${server ?? 'nothing'}`)
  const ca = textOrFile(cluster, 'certificate-authority')
  const serverName = textOf(cluster, 'tls-server-name')
  const proxyUrl = textOf(cluster, 'proxy-url')
  return {
    server: server.replace(/\/+$/, ''),
    tls: {
      insecure: cluster.fields['insecure-skip-tls-verify'] === true,
      ...(ca !== undefined && { ca }),
      ...(serverName !== undefined && { serverName }),
    },
    ...(proxyUrl !== undefined && { proxyUrl }),
  }
}

/** Removed from Kubernetes, and what came in their place. */
const AUTH_PROVIDERS: Readonly<Record<string, string>> = {
  gcp: 'Kubernetes 1.26 removed it: use the exec plugin gke-gcloud-auth-plugin',
  azure: 'Kubernetes 1.26 removed it: use the exec plugin kubelogin',
}

/** Fields that are needed to ask an issuer. */
const REFRESH_FIELDS = ['refresh-token', 'client-id', 'idp-issuer-url']
const OIDC_FIELDS = ['id-token', 'client-secret', ...REFRESH_FIELDS]

function userOf(user: Entry, cluster: Entry): Pick<ClusterAccess, 'auth' | 'impersonation'> {
  const oidc = oidcOf(user)
  const cert = textOrFile(user, 'client-certificate')
  const key = textOrFile(user, 'client-key')
  if ((cert === undefined) !== (key === undefined))
    throw new KubeconfigError(`kubeconfig: ${user.where}: expected client-certificate and client-key together, seen one of them`)
  const token = textOf(user, 'token')
  const tokenFile = textOf(user, 'tokenFile')
  const username = textOf(user, 'username')
  const exec = user.fields['exec'] as Fields | null | undefined
  const auth: AuthConfig = {
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
    ...(token !== undefined && { token }),
    ...(tokenFile !== undefined && { tokenFile: resolve(user.folder, tokenFile) }),
    ...(username !== undefined && { basic: { username, password: textOf(user, 'password') ?? '' } }),
    ...(oidc !== undefined && { oidc }),
    ...(exec && { exec: execOf({ where: `${user.where} exec`, folder: user.folder, fields: exec }, cluster) }),
  }
  const impersonation = impersonationOf(user)
  return impersonation === undefined ? { auth } : { auth, impersonation }
}

function oidcOf(user: Entry): OidcConfig | undefined {
  const provider = user.fields['auth-provider'] as Fields | null | undefined
  if (provider === undefined || provider === null) return undefined
  const name = String(provider['name'])
  const where = `${user.where}: auth-provider ${name}`
  if (name !== 'oidc') {
    const why = Object.hasOwn(AUTH_PROVIDERS, name) ? AUTH_PROVIDERS[name] : 'it is not supported: use exec, a token or a certificate'
    throw new KubeconfigError(`kubeconfig: ${where}: ${why}`)
  }
  if (user.fields['exec']) throw new KubeconfigError(`kubeconfig: ${where}: expected either it or exec, seen both`)
  const entry: Entry = { where, folder: user.folder, fields: (provider['config'] ?? {}) as Fields }
  const ca = textOrFile(entry, 'idp-certificate-authority')
  const found = OIDC_FIELDS.flatMap(field => [[field, textOf(entry, field)] as const]).filter(([, value]) => value !== undefined)
  const config: OidcConfig = {
    ...Object.fromEntries(found as [string, string][]),
    ...(ca !== undefined && { 'idp-certificate-authority-data': Buffer.from(ca).toString('base64') }),
  }
  const canLogIn = REFRESH_FIELDS.every(field => config[field] !== undefined)
  if (config['id-token'] === undefined && !canLogIn)
    throw new KubeconfigError(`kubeconfig: ${where}: expected id-token, or ${REFRESH_FIELDS.join(', ')}`)
  return config
}

function impersonationOf(user: Entry): Impersonation | undefined {
  const as = textOf(user, 'as')
  const uid = textOf(user, 'as-uid')
  const groups = textsOf(user, 'as-groups')
  const names = Object.keys((user.fields['as-user-extra'] ?? {}) as object)
  const values: Entry = { ...user, where: `${user.where} as-user-extra`, fields: (user.fields['as-user-extra'] ?? {}) as Fields }
  const extra = Object.fromEntries(names.map(name => [name, textsOf(values, name)]))
  if (as !== undefined) return { user: as, groups, extra, ...(uid !== undefined && { uid }) }
  if (uid === undefined && groups.length === 0 && names.length === 0) return undefined
  throw new KubeconfigError(`kubeconfig: ${user.where}: expected as together with as-uid, as-groups and as-user-extra, found none`)
}

const INTERACTIVE_MODES: readonly unknown[] = ['Never', 'IfAvailable', 'Always']

function execOf(exec: Entry, cluster: Entry): ExecConfig {
  const command = textOf(exec, 'command')
  if (command === undefined) throw new KubeconfigError(`kubeconfig: ${exec.where}: expected command, found none`)
  const mode = textOf(exec, 'interactiveMode') ?? 'IfAvailable'
  if (!INTERACTIVE_MODES.includes(mode))
    throw new KubeconfigError(`kubeconfig: ${exec.where}: interactiveMode: expected Never or IfAvailable, seen ${mode}`)
  if (mode === 'Always')
    throw new KubeconfigError(
      `kubeconfig: ${exec.where}: interactiveMode Always: expected Never or IfAvailable, as nobody can be asked here`,
    )
  const installHint = textOf(exec, 'installHint')
  const env = listOf(exec.fields['env'], `${exec.where} env`).map((fields, n) => {
    const entry: Entry = { where: `${exec.where} env ${n}`, folder: exec.folder, fields }
    return [textOf(entry, 'name') ?? '', textOf(entry, 'value') ?? '']
  })
  return {
    apiVersion: textOf(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    // As in kubectl, a path is relative to the kubeconfig and a bare name is looked up.
    command: command.includes('/') ? resolve(exec.folder, command) : command,
    args: textsOf(exec, 'args'),
    env: Object.fromEntries(env),
    ...(installHint !== undefined && { installHint }),
    ...(exec.fields['provideClusterInfo'] === true && { cluster: clusterInfoOf(cluster) }),
  }
}

/** Under this name a cluster has an extension that is meant for exec plugins. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

function clusterInfoOf(cluster: Entry): Fields {
  const { server, tls, proxyUrl } = clusterOf(cluster)
  const extension = listOf(cluster.fields['extensions'], `${cluster.where} extensions`).find(({ name }) => name === EXEC_EXTENSION)
  const config = extension?.['extension']
  return {
    server,
    ...(tls.serverName !== undefined && { 'tls-server-name': tls.serverName }),
    ...(tls.insecure && { 'insecure-skip-tls-verify': true }),
    ...(tls.ca !== undefined && { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
    ...(config !== undefined && { config }),
  }
}

/** Nothing is dropped in silence: a value of another kind is an error, as in kubectl. */
function textOf({ where, fields }: Entry, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw new KubeconfigError(`kubeconfig: ${where}: ${name}: expected a text, seen ${typeof value}`)
  return value
}

function textsOf({ where, fields }: Entry, name: string): readonly string[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string'))
    throw new KubeconfigError(`kubeconfig: ${where}: ${name}: expected a list of texts`)
  return value
}

function listOf(value: unknown, where: string): readonly Fields[] {
  const list = value ?? []
  if (!Array.isArray(list) || !list.every(item => typeof item === 'object' && item !== null))
    throw new KubeconfigError(`kubeconfig: ${where}: expected a list of mappings`)
  return list
}

/** The value of `<name>-data`, Base64, or the content of the file `<name>`. */
function textOrFile(entry: Entry, name: string): string | undefined {
  const data = textOf(entry, `${name}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const path = textOf(entry, name)
  if (path === undefined) return undefined
  try {
    return readFileSync(resolve(entry.folder, path), 'utf8')
  } catch (error) {
    throw new KubeconfigError(`kubeconfig: ${name}: expected a readable file, seen ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
}
