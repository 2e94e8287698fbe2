/** Holds the table of who may import whom (CONTRIBUTING.md) against the code; exits 1 on any other edge, and on a cycle of files. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Folder → folders and packages that its files may import besides itself. `*` any Node built-in; tests may import anything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'dataplane/contract': ['zod'],
  'dataplane/otlp': ['dataplane/json', 'node:buffer'],
  'dataplane/json': ['node:buffer'],
  'dataplane/limits': [],
  'dataplane/hash': ['node:crypto', 'node:buffer'],
  'dataplane/domain': [
    'dataplane/otlp',
    'dataplane/contract',
    'dataplane/json',
    'dataplane/limits',
    'dataplane/hash',
    'node:crypto',
    'node:buffer',
  ],
  'dataplane/compression': ['node:zlib'],
  'dataplane/memory': [],
  'dataplane/ports': ['dataplane/domain', 'dataplane/otlp', 'dataplane/contract'],
  'dataplane/pipeline': [
    'dataplane/domain',
    'dataplane/json',
    'dataplane/limits',
    'dataplane/hash',
    'dataplane/otlp',
    'dataplane/ports',
    'dataplane/contract',
    'dataplane/telemetry',
    'node:buffer',
  ],
  'dataplane/telemetry': ['dataplane/contract', 'dataplane/ports', 'pino', 'prom-client', '*'],
  'dataplane/config': ['dataplane/contract', 'zod', '*'],
  'dataplane/lifecycle': ['dataplane/telemetry', 'dataplane/ports', '*'],
  // The API server of Kubernetes, for the operator and the agent.
  'dataplane/kube': [
    'dataplane/contract/operator-name.ts',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
    'openid-client',
    'undici',
    'yaml',
    '*',
  ],
  'dataplane/http': [
    'dataplane/contract',
    'dataplane/json',
    'dataplane/memory',
    'dataplane/telemetry',
    'dataplane/ports',
    'express',
    'zod',
    '*',
  ],
  // Packages of their own: they know nothing of what is sent over them.
  'dataplane/http/http2': [
    'dataplane/http/server.ts',
    'dataplane/memory/release-bytes.ts',
    'dataplane/telemetry/log.ts',
    'node:buffer',
    'node:net',
  ],
  'dataplane/http/plain-lane': ['dataplane/http/server.ts', 'dataplane/memory/release-bytes.ts', 'node:buffer', 'node:http', 'node:net'],
  // What every bus has: who reads the log, which key goes to which partition.
  'dataplane/adapters/bus': [],
  'dataplane/adapters/bus/embedded': [
    'dataplane/ports',
    'dataplane/contract',
    'dataplane/compression',
    'dataplane/memory',
    'dataplane/adapters/clock',
    'dataplane/adapters/bus/bus-log.ts',
    'dataplane/adapters/bus/partitioner.ts',
    'dataplane/lifecycle/directory-lock.ts',
    'dataplane/lifecycle/durable-directory.ts',
    '*',
  ],
  'dataplane/adapters/bus/kafka/both-clients': [
    'dataplane/ports',
    'dataplane/contract',
    'dataplane/memory',
    'dataplane/adapters/bus/bus-log.ts',
    'dataplane/adapters/bus/partitioner.ts',
    'node:crypto',
  ],
  'dataplane/adapters/bus/kafka': [
    'dataplane/ports',
    'dataplane/contract',
    'dataplane/memory',
    'dataplane/adapters/bus/kafka/both-clients',
    '@platformatic/kafka',
  ],
  'dataplane/adapters/bus/kafkajs': [
    'dataplane/ports',
    'dataplane/adapters/bus/kafka/both-clients',
    'kafkajs',
    '@platformatic/kafka', // for its codecs
    'node:module',
    'node:net',
    'node:tls',
  ],
  'dataplane/adapters/search': [
    'dataplane/ports',
    'dataplane/domain',
    'dataplane/contract',
    'dataplane/memory',
    '@opensearch-project/opensearch',
    '*',
  ],
  'dataplane/adapters/online-store/redis': ['dataplane/ports', 'dataplane/domain', '@redis/client', '*'],
  'dataplane/adapters/online-store/embedded': ['dataplane/ports', 'dataplane/lifecycle/durable-directory.ts', '*'],
  'dataplane/adapters/clock': ['dataplane/ports', '*'],
  'dataplane/adapters/declared-ticketing': ['dataplane/ports', 'dataplane/domain', 'dataplane/contract', 'dataplane/telemetry/log.ts', '*'],
  // A house of its own: its README says what it takes from each of these.
  'dataplane/search-store': [
    'dataplane/json',
    'dataplane/compression/zstd.ts',
    'dataplane/memory',
    'dataplane/ports/clock.ts',
    'dataplane/telemetry/metrics.ts',
    'dataplane/http/http-error.ts',
    'dataplane/http/request-body.ts',
    'dataplane/http/route.ts',
    'dataplane/http/server.ts',
    'dataplane/lifecycle/durable-directory.ts',
    '*',
  ],
  'dataplane/roles': [
    'dataplane/contract',
    'dataplane/json',
    'dataplane/limits',
    'dataplane/otlp',
    'dataplane/domain',
    'dataplane/memory',
    'dataplane/ports',
    'dataplane/pipeline',
    'dataplane/adapters',
    'dataplane/search-store/search-server.ts',
    'dataplane/http',
    'dataplane/kube',
    'dataplane/telemetry',
    'dataplane/lifecycle',
    'dataplane/config',
    'operator/main.ts', // a role like any other, by its table
    'zod',
    'undici',
    'croner',
    '*',
  ],
  'operator/main.ts': [
    'operator/api',
    'operator/controllers',
    'operator/reconcile',
    'operator/runtime',
    'dataplane/kube',
    'dataplane/contract',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
    '*',
  ],
  'dataplane/main.ts': [
    'dataplane/adapters/clock',
    'dataplane/roles',
    'dataplane/config',
    'dataplane/lifecycle',
    'dataplane/contract',
    'dataplane/telemetry',
    '*',
  ],
  'operator/api': ['dataplane/contract', 'dataplane/kube/object.ts', 'zod'],
  'operator/observed': ['dataplane/contract', 'operator/api', 'dataplane/kube/object.ts'],
  'operator/desired': [
    'dataplane/contract',
    'operator/api',
    'operator/observed',
    'dataplane/kube/object.ts',
    '@kubernetes/client-node', // its types
    'node:crypto',
  ],
  'operator/runtime': ['dataplane/kube', 'dataplane/ports', 'dataplane/telemetry/log.ts', 'dataplane/http/server.ts', 'prom-client', '*'],
  'operator/reconcile': ['dataplane/contract/operator-name.ts', 'dataplane/kube', 'node:crypto'],
  'operator/controllers': [
    'operator/api',
    'operator/desired',
    'operator/observed',
    'operator/reconcile',
    'operator/runtime',
    'dataplane/contract/operator-name.ts',
    'dataplane/contract/roles.ts',
    'dataplane/kube',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
  ],
}

/** The line on which a static import or re-export ends, and dynamic imports. Bounded per line: no backtracking across the file. */
const IMPORT = /^(?:(?:import|export|\})[^'"\n]*\sfrom|import)\s+['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/gm

const ENTRIES = Object.keys(ALLOWED).sort((a, b) => b.length - a.length)
const problems: string[] = []
/** File → files that it imports, for their types too. */
const imports = new Map<string, string[]>()

function entryOf(file: string): string | undefined {
  return ENTRIES.find(entry => file === entry || file.startsWith(`${entry}/`))
}

/** Roles stand apart: only `standalone` and the table start others. */
function roleOf(file: string): string | undefined {
  return /^dataplane\/roles\/([^/]+)\//.exec(file)?.[1]
}

function check(file: string): void {
  const entry = entryOf(file)
  if (entry === undefined) return void problems.push(`${file}: lies in no folder of the import table`)
  const allowed = ALLOWED[entry]!
  const text = readFileSync(join(root, file), 'utf8')
  const targets: string[] = []
  imports.set(file, targets)
  for (const match of text.matchAll(IMPORT)) {
    const specifier = (match[1] ?? match[2])!
    if (specifier.startsWith('.')) {
      const target = relative(root, resolve(root, dirname(file), specifier))
      targets.push(target)
      const targetEntry = entryOf(target)
      if (targetEntry !== entry && !allowed.some(a => target === a || target.startsWith(`${a}/`)))
        problems.push(`${file}: may not import ${target}`)
      const from = roleOf(file)
      const to = roleOf(target)
      if (from !== undefined && to !== undefined && from !== to && from !== 'standalone')
        problems.push(`${file}: role ${from} may not import role ${to}`)
    } else if (specifier.startsWith('node:')) {
      if (!allowed.includes('*') && !allowed.includes(specifier)) problems.push(`${file}: may not import ${specifier}`)
    } else {
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      if (!allowed.includes(name)) problems.push(`${file}: may not import ${name}`)
    }
  }
}

/** Cycles that are there, by one of their files; to be mended, not to be added to. */
const KNOWN_CYCLES: readonly string[] = ['dataplane/kube/kubeconfig.ts']
const withoutCycle = new Set<string>()

/** Follows the imports of a file; `path` leads to it. */
function refuseCycles(file: string, path: readonly string[]): void {
  if (withoutCycle.has(file)) return
  const at = path.indexOf(file)
  if (at >= 0) {
    const cycle = path.slice(at)
    if (!cycle.some(each => KNOWN_CYCLES.includes(each))) problems.push(`cycle of imports: ${[...cycle, file].join(' → ')}`)
    return
  }
  for (const target of imports.get(file) ?? []) refuseCycles(target, [...path, file])
  withoutCycle.add(file)
}

const files = ['dataplane', 'operator'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      name =>
        name.endsWith('.ts') && !/\.(test|real|cluster)\.ts$/.test(name) && !name.includes('testing/') && !name.endsWith('contract.ts'),
    )
    .map(name => `${folder}/${name}`),
)
for (const file of files) check(file)
for (const file of files) refuseCycles(file, [])
for (const problem of problems) console.error(problem)
console.log(`${files.length} files, ${problems.length} forbidden imports`)
process.exit(problems.length === 0 ? 0 : 1)
