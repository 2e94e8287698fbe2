/** Programs that the chart is tried with: those of the machine, else built once with Go from its module proxy and kept. */
import { type ExecFileException, execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE_DIR } from './place.ts'
import { Unavailable } from './unavailable.ts'

interface Tool {
  /** Name of the program that the module has. */
  readonly program: string
  readonly source: string
  readonly version: string
  readonly ldflags?: string
  /** Arguments by which a program of the machine tells its version, and how that begins. */
  readonly onPath?: { readonly args: readonly string[]; readonly expected: string }
}

const variables = (values: Readonly<Record<string, string>>) =>
  Object.entries(values)
    .map(([name, value]) => `-X ${name}=${value}`)
    .join(' ')

const helm = (major: number, version: string, others: Readonly<Record<string, string>> = {}): Tool => ({
  program: 'helm',
  source: `helm.sh/helm/v${major}/cmd/helm`,
  version,
  ldflags: variables({ [`helm.sh/helm/v${major}/internal/version.version`]: version, ...others }),
  onPath: { args: ['version', '--template', '{{.Version}}'], expected: `v${major}.` },
})

/** The version of Kubernetes that Helm 3 renders for, as its releases have it: without them it is 1.20. */
const KUBERNETES = Object.fromEntries(
  ['chartutil', 'lint/rules'].flatMap(folder => [
    [`helm.sh/helm/v3/pkg/${folder}.k8sVersionMajor`, '1'],
    [`helm.sh/helm/v3/pkg/${folder}.k8sVersionMinor`, '33'],
  ]),
)

export const TOOLS = {
  helm3: helm(3, 'v3.18.6', KUBERNETES),
  helm4: helm(4, 'v4.3.1'),
  kubeconform: { program: 'kubeconform', source: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.7.0' },
  /** The Lua that Argo CD runs health scripts with. */
  glua: { program: 'glua', source: 'github.com/yuin/gopher-lua/cmd/glua', version: 'v1.1.2' },
  /** The conformance suite of HTTP/2; its newest version in the proxy. */
  h2spec: { program: 'h2spec', source: 'github.com/summerwind/h2spec/cmd/h2spec', version: 'v2.2.1+incompatible' },
} as const satisfies Readonly<Record<string, Tool>>

export type ToolName = keyof typeof TOOLS

const BIN_DIR = join(CACHE_DIR, 'bin')

/** Path of the program. Throws `Unavailable` where it cannot be had within the time; what Go has compiled by then it need not compile again. */
export async function findTool(name: ToolName, limitMs: number): Promise<string> {
  const { program, source, version, ldflags = '', onPath }: Tool = TOOLS[name]
  const keptName = `${name}-${version}`
  if (onPath !== undefined && !existsSync(keptProgram(keptName))) {
    const told = await run(program, onPath.args).catch(() => '')
    if (told.startsWith(onPath.expected)) return program
  }
  return buildOnce(keptName, async directory => {
    const args = ['install', '-trimpath', '-ldflags', `-s -w ${ldflags}`.trim(), `${source}@${version}`]
    await runGo(args, limitMs, { GOBIN: directory })
    return join(directory, program)
  })
}

const keptProgram = (name: string) => join(BIN_DIR, name)

/** Path of the program that is kept under this name. When there is none, `build` makes it in a directory of its own and tells its path. */
export async function buildOnce(name: string, build: (directory: string) => Promise<string>): Promise<string> {
  const kept = keptProgram(name)
  if (existsSync(kept)) return kept
  mkdirSync(BIN_DIR, { recursive: true })
  const directory = mkdtempSync(join(BIN_DIR, 'build-'))
  try {
    renameSync(await build(directory), kept)
    return kept
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Directory of a module's sources, from the module proxy. Throws `Unavailable`. */
export async function downloadModule(module: string, limitMs: number): Promise<string> {
  const { Dir } = JSON.parse(await runGo(['mod', 'download', '-json', module], limitMs)) as { readonly Dir: string }
  return Dir
}

/** Standard output of the program. Rejects with its standard error as message. */
export function run(
  program: string,
  args: readonly string[],
  { limitMs = 30_000, env = {}, input = '' }: { readonly limitMs?: number; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } } as const
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(Object.assign(new Error(`${program} ${args[0]}: ${stderr.trim() || stdout.trim() || error.message}`), { cause: error }))
    })
    // A program that ends without reading is no failure of its own.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** Standard output of `go`. Throws `Unavailable` where it fails or takes too long. */
export async function runGo(args: readonly string[], limitMs: number, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const path = `${process.env['PATH']}:/usr/local/go/bin`
  const fixed = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false', PATH: path }
  try {
    return await run('nice', ['-n', '10', 'go', ...args], { limitMs, env: { ...fixed, ...env } })
  } catch (error) {
    const { killed, code } = (error as Error).cause as ExecFileException
    const what = args.at(-1)
    if (killed)
      throw new Unavailable(
        `${what} was not built within ${Math.round(limitMs / 1000)} s: hack/node hack/chart.ts --tools builds it without a limit`,
      )
    if (code === 127) throw new Unavailable(`${what} cannot be built: this machine has no Go`)
    throw new Unavailable(`${what} cannot be built: ${lastLine((error as Error).message)}`)
  }
}

const lastLine = (text: string) => text.slice(text.lastIndexOf('\n') + 1)
