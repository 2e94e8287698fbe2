/** A real OpenSearch on this machine: one node, plain HTTP, without the security plugin. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Container, containerServer, pullImage } from './container.ts'
import { findJava, runMaven } from './java.ts'
import { CACHE_DIR, HOST, PORTS, RUN_DIR } from './place.ts'
import { type Server, waitUntilReady } from './server.ts'
import { expectFreePort, launch, processServer } from './server-process.ts'
import { Unavailable } from './unavailable.ts'
import { backendsVia } from './via.ts'

const VERSION = process.env['BACKENDS_OPENSEARCH_VERSION'] ?? '3.5.0'
const HEAP = process.env['BACKENDS_OPENSEARCH_HEAP'] ?? '384m'
const ZIP = join(CACHE_DIR, `opensearch-${VERSION}.zip`)
const DIR = join(RUN_DIR, 'opensearch')
const HOME = join(DIR, `opensearch-${VERSION}`)
const PROCESS = { pidFile: join(DIR, 'pid'), logFile: join(DIR, 'log'), mark: HOME }
/** The same in a container, of the official image. */
export const OPENSEARCH_CONTAINER: Container = {
  name: `logpipeline-opensearch-${PORTS.opensearch}`,
  image: `opensearchproject/opensearch:${VERSION}`,
  ports: [[PORTS.opensearch, 9_200]],
  env: {
    'cluster.name': 'logpipeline',
    'node.name': 'node-1',
    'discovery.type': 'single-node',
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
    DISABLE_SECURITY_PLUGIN: 'true',
    DISABLE_INSTALL_DEMO_CONFIG: 'true',
    OPENSEARCH_JAVA_OPTS: `-Xms${HEAP} -Xmx${HEAP}`,
  },
  dataDir: '/usr/share/opensearch/data',
  logFile: PROCESS.logFile,
}
const READY_TIMEOUT_MS = 180_000
/** OpenSearch refuses to run as root: then it runs as `nobody`. */
const NOBODY = '65534'

export const openSearchAddress = () => `http://${HOST}:${PORTS.opensearch}`

const container = containerServer(OPENSEARCH_CONTAINER)
const server = (): Server => (backendsVia() === 'docker' ? container : processServer(PROCESS))

/** Its process while it runs here. */
export const openSearchPid = () => server().pid()

export async function isOpenSearchUp(): Promise<boolean> {
  return openSearchPid() !== undefined && (await answers())
}

/** Starts it on fresh data; resolves once the cluster's health is yellow or green. */
export async function startOpenSearch(): Promise<void> {
  if (await isOpenSearchUp()) return
  if (backendsVia() === 'docker') pullImage(OPENSEARCH_CONTAINER.image)
  else {
    java() // what is missing shows before the download
    download()
  }
  if (openSearchPid() === undefined) {
    await stopOpenSearch()
    await expectFreePort(PORTS.opensearch, 'BACKENDS_OPENSEARCH_PORT')
    if (backendsVia() === 'archives') unpack()
    launchServer()
  }
  await waitUntilReady(server(), answers, READY_TIMEOUT_MS)
}

export async function stopOpenSearch(): Promise<void> {
  await server().stop()
  if (backendsVia() === 'docker') container.removeData()
  rmSync(DIR, { recursive: true, force: true })
}

/** Ends the node, its data stays; `restartOpenSearch` goes on with it. */
export async function killOpenSearch(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
  await server().stop(signal)
}

export async function restartOpenSearch(): Promise<void> {
  launchServer()
  await waitUntilReady(server(), answers, READY_TIMEOUT_MS)
}

/** Stops the node in its tracks, as a machine that hangs. */
export const freezeOpenSearch = () => server().freeze()

/** Lets it go on. */
export const thawOpenSearch = () => server().thaw()

/** The whole server, about 190 MB: its integration tests' distribution, the only one that Maven Central has. */
function download(): void {
  if (existsSync(ZIP)) return
  const dir = mkdtempSync(join(tmpdir(), 'opensearch-'))
  const artifact = `org.opensearch.distribution.integ-test-zip:opensearch:${VERSION}:zip`
  runMaven(['-f', emptyProject(dir), 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${dir}`], `OpenSearch ${VERSION}`)
  mkdirSync(CACHE_DIR, { recursive: true })
  const copy = `${ZIP}.part`
  const { status } = spawnSync('cp', [join(dir, `opensearch-${VERSION}.zip`), copy])
  if (status !== 0) throw new Error(`cannot write ${copy}`)
  renameSync(copy, ZIP)
  rmSync(dir, { recursive: true })
}

function emptyProject(dir: string): string {
  const file = join(dir, 'pom.xml')
  writeFileSync(
    file,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>logpipeline</groupId><artifactId>opensearch</artifactId><version>1</version></project>`,
  )
  return file
}

function unpack(): void {
  rmSync(DIR, { recursive: true, force: true })
  mkdirSync(DIR, { recursive: true })
  const { error, status, stderr } = spawnSync('unzip', ['-q', ZIP, '-d', DIR], { encoding: 'utf8' })
  if (error !== undefined) throw new Unavailable('unzip is not installed, OpenSearch cannot be unpacked')
  if (status !== 0) throw new Error(`cannot unpack ${ZIP}: ${stderr}`)
  spawnSync('chmod', ['-R', 'u+x', join(HOME, 'bin')])
  writeFileSync(
    join(HOME, 'config/opensearch.yml'),
    `cluster.name: logpipeline
node.name: node-1
network.host: ${HOST}
http.port: ${PORTS.opensearch}
transport.port: ${PORTS.opensearch + 100}
discovery.type: single-node
cluster.routing.allocation.disk.threshold_enabled: false
path.repo: ${join(DIR, 'snapshots')}
`,
  )
}

const java = () => findJava(21, 'BACKENDS_OPENSEARCH_JAVA_HOME')

function launchServer(): void {
  if (backendsVia() === 'docker') return void container.launch()
  const isRoot = process.getuid?.() === 0
  if (isRoot) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, DIR])
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs']
  const start = [join(HOME, 'bin/opensearch')]
  const env = { HOME: DIR, OPENSEARCH_JAVA_HOME: java(), OPENSEARCH_JAVA_OPTS: `-Xms${HEAP} -Xmx${HEAP}` }
  launch({ ...PROCESS, env, command: (isRoot ? [...asNobody, ...start] : start) as [string, ...string[]] })
}

async function answers(): Promise<boolean> {
  try {
    const health = await fetch(`${openSearchAddress()}/_cluster/health?wait_for_status=yellow&timeout=1s`, {
      signal: AbortSignal.timeout(5000),
    })
    return health.ok && /green|yellow/.test(((await health.json()) as { status: string }).status)
  } catch {
    return false // not listening yet
  }
}
