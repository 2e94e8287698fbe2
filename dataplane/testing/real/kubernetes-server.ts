/** A real Kubernetes on this machine: a control plane alone, or with one node that runs pods in a network namespace of its own (`hack/cluster`). */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CACHE_DIR, PORTS, RUN_DIR } from './place.ts'
import { timeLeftMs } from './time-left.ts'
import { Unavailable } from './unavailable.ts'

export type KubernetesName = 'kubernetes' | 'kubernetes-node'

export const KUBERNETES_VERSION = '1.34.4'

const SCRIPTS = resolve(import.meta.dirname, '../../../hack/cluster')
const BIN_DIR = join(CACHE_DIR, `kubernetes-${KUBERNETES_VERSION}`, 'bin')
const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl']
const NODE = ['kubelet', 'kube-proxy', 'coredns']
/** An empty cache: everything is compiled. */
const BUILD_LIMIT_MS = 40 * 60_000
const START_LIMIT_MS = 5 * 60_000

const CLUSTERS = {
  kubernetes: { script: 'control-plane.sh', home: join(RUN_DIR, 'kubernetes'), programs: CONTROL_PLANE },
  'kubernetes-node': { script: 'node.sh', home: join(RUN_DIR, 'node'), programs: [...CONTROL_PLANE, ...NODE] },
} as const satisfies Readonly<Record<KubernetesName, object>>

/** Path of the kubeconfig with which an administrator reaches it. */
export const kubernetesAddress = (name: KubernetesName) => join(CLUSTERS[name].home, 'admin.kubeconfig')

/** The kubectl of the same version, once a cluster has been started. */
export const kubectlPath = () => join(BIN_DIR, 'kubectl')

/** Lines of JSON, one for each request that the API server took, where it was started with `CLUSTER_AUDIT`. */
export const auditLogFile = (name: KubernetesName) => join(CLUSTERS[name].home, 'audit.log')

/** The content of the audit log; empty when there is none. */
export function auditLog(name: KubernetesName): string {
  const file = auditLogFile(name)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

export async function isKubernetesUp(name: KubernetesName): Promise<boolean> {
  if (!existsSync(kubernetesAddress(name)) || (await script(name, ['status'])).code !== 0) return false
  const args = ['--kubeconfig', kubernetesAddress(name), 'get', '--raw', '/readyz', '--request-timeout=5s']
  return (await run(kubectlPath(), args, 10_000)).code === 0
}

/** Builds what is missing (minutes, once), starts it on fresh data; resolves once it takes pods. */
export async function startKubernetes(name: KubernetesName): Promise<void> {
  if (await isKubernetesUp(name)) return
  expectMachine(name)
  await build(CLUSTERS[name].programs)
  const { code, output } = await script(name, ['up'], START_LIMIT_MS)
  if (code !== 0) throw new Error(`${CLUSTERS[name].script} up: exit code ${code}\n${output.trim()}`)
}

/** Stops it and deletes its data. */
export async function stopKubernetes(name: KubernetesName): Promise<void> {
  if (!existsSync(CLUSTERS[name].home)) return
  const { code, output } = await script(name, ['wipe'])
  if (code !== 0) throw new Error(`${CLUSTERS[name].script} wipe: exit code ${code}\n${output.trim()}`)
}

/** Nodes without kubelets under the control plane `kubernetes`: pods that put up with them turn Ready at once (KWOK, built in minutes, once). */
export async function startFakeNodes(count: number): Promise<void> {
  const { code, output } = await run(join(SCRIPTS, 'fake-nodes.sh'), ['up', String(count)], BUILD_LIMIT_MS, environment('kubernetes'))
  if (code !== 0) throw new Error(`fake-nodes.sh up: exit code ${code}\n${output.trim()}`)
}

export async function stopFakeNodes(): Promise<void> {
  await run(join(SCRIPTS, 'fake-nodes.sh'), ['down'], 30_000, environment('kubernetes'))
}

/** Ends the API server, its data stays; `restartApiServer` goes on with it. */
export async function killApiServer(name: KubernetesName): Promise<void> {
  await expectDone(name, ['kill-apiserver'])
}

export async function restartApiServer(name: KubernetesName): Promise<void> {
  await expectDone(name, ['up'])
}

/** Makes the container image `reference` known to the node: `config` as in an image's `config`, `files` as `SOURCE=TARGET`. */
export async function loadImage(reference: string, config: object, files: readonly string[]): Promise<void> {
  await expectDone('kubernetes-node', ['image', reference, JSON.stringify(config), ...files])
}

/** Gives an image of the node another name. */
export async function tagImage(reference: string, other: string): Promise<void> {
  await expectDone('kubernetes-node', ['tag', reference, other])
}

/** Runs a program in the network of the node, where pods reach it at `NODE_ADDRESS`. Ends with the one who holds it. */
export function spawnOnNode(command: readonly string[], logFile: string) {
  mkdirSync(join(logFile, '..'), { recursive: true })
  const log = openSync(logFile, 'a')
  return spawn(join(SCRIPTS, 'node.sh'), ['exec', ...command], { stdio: ['ignore', log, log], env: environment('kubernetes-node') })
}

/** The node's address as its pods see it. */
export const NODE_ADDRESS = '10.123.0.1'

async function expectDone(name: KubernetesName, args: readonly string[]): Promise<void> {
  const { code, output } = await script(name, args, START_LIMIT_MS)
  if (code !== 0) throw new Error(`${CLUSTERS[name].script} ${args[0]}: exit code ${code}\n${output.trim()}`)
}

function expectMachine(name: KubernetesName): void {
  if (process.platform !== 'linux') throw new Unavailable(`Kubernetes is built for Linux, this is ${process.platform}`)
  const isBuilt = CLUSTERS[name].programs.every(program => existsSync(join(BIN_DIR, program)))
  const missing = ['bash', 'openssl', 'python3', ...(isBuilt ? [] : ['go'])].filter(program => !has(program))
  if (missing.length > 0) throw new Unavailable(`needs ${missing.join(', ')}, which this machine does not have`)
  if (name === 'kubernetes') return
  if (process.getuid?.() !== 0) throw new Unavailable('a node with pods needs root')
  if (!has('apt-get') && !has('containerd')) throw new Unavailable('a node with pods needs containerd, or apt-get to install it')
  const network = spawnSync('unshare', ['--net', 'true'], { encoding: 'utf8' })
  if (network.status !== 0) throw new Unavailable(`a node with pods needs network namespaces: ${network.stderr?.trim()}`)
}

async function build(programs: readonly string[]): Promise<void> {
  const missing = programs.filter(program => !existsSync(join(BIN_DIR, program)))
  if (missing.length === 0) return
  const limitMs = Math.max(1, Math.min(BUILD_LIMIT_MS, timeLeftMs()))
  // It ends the compilers too, which a signal to the script alone would leave running.
  const bounded = ['--kill-after=10', String(Math.ceil(limitMs / 1000)), 'nice', '-n', '5']
  const { code, output } = await run(
    'timeout',
    [...bounded, join(SCRIPTS, 'build.sh'), ...missing],
    limitMs + 30_000,
    environment('kubernetes'),
  )
  if (code !== 0) throw new Unavailable(`${missing.join(', ')} cannot be built: ${output.trim().split('\n').slice(-3).join(' ')}`)
}

const has = (program: string) => spawnSync('which', [program], { env: environment('kubernetes') }).status === 0

function script(name: KubernetesName, args: readonly string[], limitMs = 120_000) {
  return run(join(SCRIPTS, CLUSTERS[name].script), args, limitMs, environment(name))
}

function environment(name: KubernetesName): NodeJS.ProcessEnv {
  const place = { BACKENDS_CACHE: CACHE_DIR, BACKENDS_RUN: RUN_DIR, KUBERNETES_VERSION, CLUSTER_PORT: String(PORTS[name]) }
  const { PATH, CLUSTER_AUDIT = name === 'kubernetes' ? '1' : '' } = process.env
  return { ...process.env, PATH: `${PATH}:/usr/local/go/bin:/usr/sbin`, CLUSTER_AUDIT, ...place }
}

function run(program: string, args: readonly string[], limitMs: number, env = process.env) {
  return new Promise<{ readonly code: number; readonly output: string }>(done => {
    // A process that the command leaves running must not hold the output open.
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024, env } as const
    execFile(program, args, options, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output: `${stdout}${stderr}` })
    })
  })
}
