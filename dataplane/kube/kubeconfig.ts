/** Reads kubeconfig files, as kubectl does: several are merged, the first to name something wins. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import type { AuthConfig, ClusterAccess } from './cluster-access.ts'

export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

/** A program that hands out credentials (`client.authentication.k8s.io`). */
export interface ExecConfig {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly installHint?: string
}

interface KubeconfigFile {
  readonly path: string
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>
/** An entry of `clusters`, `users` or `contexts`, and the folder that its relative paths start from. */
interface Entry {
  readonly fields: Fields
  readonly folder: string
}

/** Throws `KubeconfigError` when the current context is missing, incomplete, or needs something that is not supported. */
export function parseKubeconfig(files: readonly KubeconfigFile[]): ClusterAccess {
  const configs = files.map(({ path, text }) => ({ folder: dirname(resolve(path)), config: parseYaml(path, text) }))
  const find = (list: string, field: string, name: unknown): Entry => {
    for (const { folder, config } of configs)
      for (const entry of (config[list] ?? []) as readonly Fields[])
        if (entry['name'] === name) return { folder, fields: (entry[field] ?? {}) as Fields }
    throw new KubeconfigError(`kubeconfig: expected an entry named ${JSON.stringify(name)} in ${list}, found none`)
  }
  const current = configs.map(({ config }) => config['current-context']).find(name => typeof name === 'string' && name !== '')
  if (current === undefined) throw new KubeconfigError('kubeconfig: expected a current-context, found none')
  const context = find('contexts', 'context', current).fields
  const cluster = find('clusters', 'cluster', context['cluster'])
  const server = textOf(cluster, 'server')
  if (server === undefined) throw new KubeconfigError(`kubeconfig: cluster ${String(context['cluster'])}: expected server, found none`)
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
    auth: context['user'] === undefined ? {} : authOf(find('users', 'user', context['user'])),
    namespace: typeof context['namespace'] === 'string' && context['namespace'] !== '' ? context['namespace'] : 'default',
  }
}

function parseYaml(path: string, text: string): Fields {
  try {
    const config: unknown = parse(text)
    if (config === null || typeof config !== 'object' || Array.isArray(config)) throw new Error('it is no mapping')
    return config as Fields
  } catch (error) {
    throw new KubeconfigError(`${path}: expected a kubeconfig: ${(error as Error).message}`)
  }
}

function authOf(user: Entry): AuthConfig {
  if (user.fields['auth-provider'] !== undefined)
    throw new KubeconfigError('kubeconfig: auth-provider is no longer supported by Kubernetes; use exec, a token or a certificate')
  const cert = textOrFile(user, 'client-certificate')
  const key = textOrFile(user, 'client-key')
  const token = textOf(user, 'token')
  const tokenFile = textOf(user, 'tokenFile')
  const username = textOf(user, 'username')
  const exec = user.fields['exec'] as Fields | undefined
  return {
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
    ...(token !== undefined && { token }),
    ...(tokenFile !== undefined && { tokenFile: resolve(user.folder, tokenFile) }),
    ...(username !== undefined && { basic: { username, password: textOf(user, 'password') ?? '' } }),
    ...(exec !== undefined && { exec: execOf(exec, user.folder) }),
  }
}

function execOf(exec: Fields, folder: string): ExecConfig {
  const entry: Entry = { fields: exec, folder }
  const command = textOf(entry, 'command')
  if (command === undefined) throw new KubeconfigError('kubeconfig: users exec: expected command, found none')
  const installHint = textOf(entry, 'installHint')
  const env = ((exec['env'] ?? []) as readonly { readonly name: string; readonly value: string }[]).map(({ name, value }) => [name, value])
  return {
    apiVersion: textOf(entry, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    // As in kubectl, a path is relative to the kubeconfig and a bare name is looked up.
    command: command.includes('/') ? resolve(folder, command) : command,
    args: (exec['args'] ?? []) as readonly string[],
    env: Object.fromEntries(env),
    ...(installHint !== undefined && { installHint }),
  }
}

function textOf({ fields }: Entry, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
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
