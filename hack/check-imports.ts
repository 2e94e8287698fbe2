/** Holds the table of who may import whom (CONTRIBUTING.md) against the code; exits 1 on any other edge, on one that no file uses, and on a cycle. */
import { resolve } from 'node:path'
import {
  checkTable,
  findCycles,
  findImportsOfHack,
  findSources,
  findTestCodeInProduct,
  type ImportTable,
  isTestCode,
  readGraph,
} from './import-gate.ts'

/** The import table. Folder → folders and packages that its files may import besides itself. `*` any Node built-in; tests may import anything but `hack`. */
const ALLOWED: ImportTable = {
  'dataplane/contract': ['zod'],
  'dataplane/otlp': ['dataplane/json', 'node:buffer'],
  'dataplane/json': ['node:buffer'],
  'dataplane/limits': [],
  'dataplane/hash': ['node:crypto'],
  'dataplane/domain': ['dataplane/otlp', 'dataplane/contract', 'dataplane/json', 'dataplane/limits', 'dataplane/hash', 'node:crypto'],
  'dataplane/compression': ['node:zlib'],
  // API keys, for those who ask for them and those who manage them.
  'dataplane/api-keys': [
    'dataplane/contract',
    'dataplane/domain',
    'dataplane/http/http-error.ts',
    'dataplane/http/route.ts',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
    'zod',
    'node:crypto',
  ],
  // Common to the commands of `logpipeline`.
  'dataplane/command-line': ['dataplane/adapters/clock', 'dataplane/config/environment.ts', 'dataplane/ports/clock.ts', 'node:util'],
  // Commands that a running standalone does the work of.
  'dataplane/command-socket': ['dataplane/telemetry/log.ts', '*'],
  // Back ends as the gateway and the dashboard speak to them, and the search store as one tenant may see it.
  'dataplane/upstream': ['dataplane/contract/headers.ts', 'dataplane/http/http-error.ts', 'dataplane/telemetry/log.ts', 'undici', '*'],
  'dataplane/tenant-search': [
    'dataplane/contract/indices.ts',
    'dataplane/http/http-error.ts',
    'dataplane/http/request-body.ts',
    'dataplane/json',
    'dataplane/upstream',
  ],
  'dataplane/tenant-export': [
    'dataplane/domain',
    'dataplane/http/request-body.ts',
    'dataplane/json',
    'dataplane/memory',
    'dataplane/otlp',
    'dataplane/otlp-intake',
    'dataplane/upstream',
  ],
  // Common to every door that takes OTLP requests.
  'dataplane/otlp-intake': [
    'dataplane/memory/release-bytes.ts',
    'dataplane/otlp/export-response.ts',
    'dataplane/otlp/layout.ts',
    'dataplane/telemetry/log.ts',
    'node:buffer',
    'node:stream',
    'node:zlib',
  ],
  'dataplane/bulk-port': [],
  'dataplane/memory': ['node:v8', 'node:vm'],
  'dataplane/ports': ['dataplane/domain', 'dataplane/contract', 'dataplane/bulk-port'],
  'dataplane/pipeline': [
    'dataplane/domain',
    'dataplane/json',
    'dataplane/limits',
    'dataplane/hash',
    'dataplane/otlp',
    'dataplane/ports',
    'dataplane/contract',
    'dataplane/telemetry',
    'cockatiel',
    'node:buffer',
    'node:crypto',
  ],
  'dataplane/telemetry': ['dataplane/contract', 'pino', 'prom-client'],
  'dataplane/config': ['dataplane/contract', '*'],
  'dataplane/lifecycle': ['dataplane/telemetry', 'dataplane/ports', '*'],
  // The API server of Kubernetes, for the operator and the agent.
  'dataplane/kube': [
    'dataplane/limits/back-off.ts',
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
    'dataplane/memory/release-bytes.ts',
    'dataplane/telemetry',
    'dataplane/ports',
    'express',
    'zod',
    '*',
  ],
  // Packages of their own: they know nothing of what is sent over them.
  'dataplane/http/http2': [
    'dataplane/http/request-host.ts',
    'dataplane/http/server.ts',
    'dataplane/memory/release-bytes.ts',
    'dataplane/telemetry/log.ts',
    'node:buffer',
    'node:net',
  ],
  'dataplane/http/plain-lane': [
    'dataplane/http/request-host.ts',
    'dataplane/http/server.ts',
    'dataplane/memory/release-bytes.ts',
    'node:buffer',
    'node:http',
    'node:net',
  ],
  // Common to every bus: readers of the log, the partition of a key.
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
    'dataplane/limits/back-off.ts',
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
    'dataplane/bulk-port',
    'dataplane/limits/back-off.ts',
    'dataplane/ports',
    'dataplane/memory',
    '@opensearch-project/opensearch',
    '*',
  ],
  'dataplane/adapters/online-store/redis': ['dataplane/ports', 'dataplane/domain', '@redis/client'],
  'dataplane/adapters/online-store/embedded': ['dataplane/ports', 'dataplane/lifecycle/durable-directory.ts', '*'],
  'dataplane/adapters/clock': ['dataplane/ports', '*'],
  'dataplane/adapters/language-model': ['dataplane/ports', 'dataplane/domain/language-model', 'dataplane/limits/retry-after.ts', 'zod'],
  // They connect to addresses of users: under one guard, which comes in as a port.
  'dataplane/adapters/outbound-http': ['dataplane/ports', 'undici', '*'],
  'dataplane/adapters/incident-platform': [
    'dataplane/adapters/incident-platform/email',
    'dataplane/contract',
    'dataplane/domain',
    'dataplane/limits/retry-after.ts',
    'dataplane/ports',
    'node:crypto',
  ],
  // The one platform that is not HTTP.
  'dataplane/adapters/incident-platform/email': [
    'dataplane/adapters/incident-platform',
    'dataplane/domain',
    'dataplane/ports',
    'nodemailer',
    'node:crypto',
    'node:net',
  ],
  'dataplane/adapters/declared-ticketing': ['dataplane/ports', 'dataplane/domain', 'dataplane/contract', 'dataplane/telemetry/log.ts', '*'],
  // A house of its own: its README says what it takes from each of these.
  'dataplane/search-store': [
    'dataplane/bulk-port',
    'dataplane/limits/back-off.ts',
    'dataplane/json',
    'dataplane/compression/zstd.ts',
    'dataplane/memory',
    'dataplane/ports/clock.ts',
    'dataplane/telemetry/metrics.ts',
    'dataplane/http/end-after-request.ts',
    'dataplane/http/http-error.ts',
    'dataplane/http/request-body.ts',
    'dataplane/http/request-host.ts',
    'dataplane/http/route.ts',
    'dataplane/http/server.ts',
    'dataplane/http/unreadable-request.ts',
    'dataplane/lifecycle/durable-directory.ts',
    'dataplane/lifecycle/keep-compiled-code.ts',
    '*',
  ],
  // Stand-ins for what users have elsewhere: they know nothing of the product but its HTTP.
  'dataplane/demo': [
    'dataplane/adapters/clock',
    'dataplane/command-line',
    'dataplane/contract/platforms.ts',
    'dataplane/http/http-error.ts',
    'dataplane/http/request-body.ts',
    'dataplane/http/route.ts',
    'dataplane/http/server.ts',
    'dataplane/lifecycle',
    'dataplane/limits/back-off.ts',
    'dataplane/ports/clock.ts',
    'dataplane/telemetry/logger.ts',
    'smtp-server',
    'zod',
    '*',
  ],
  // Runs in the browser: of the server it knows names, numbers, and rules that need nothing of Node.
  'dataplane/console': [
    'dataplane/contract/headers.ts',
    'dataplane/contract/indices.ts',
    'dataplane/contract/llm-providers.ts',
    'dataplane/contract/platforms.ts',
    'dataplane/contract/target-id.ts',
    'dataplane/domain/anomalies/anomaly.ts', // types
    'dataplane/domain/api-keys/api-key.ts', // types
    'dataplane/domain/incidents/anomaly-config.ts',
    'dataplane/domain/incidents/anomaly-window.ts',
    'dataplane/domain/incidents/audit-entry.ts', // types
    'dataplane/domain/incidents/incident-fields.ts', // types
    'dataplane/domain/incidents/incident-status.ts',
    'dataplane/domain/incidents/severity.ts',
    'dataplane/domain/root-cause/root-cause.ts', // types
    'dataplane/domain/tickets/escalation-config.ts',
    'dataplane/domain/tickets/platform-field.ts',
    'dataplane/domain/tickets/silence.ts',
    'dataplane/domain/tickets/ticket-event.ts', // types
    'dataplane/domain/tickets/ticket-thread.ts', // types
    'dataplane/ports/declared-ticketing.ts', // types
    '@mantine/core',
    '@mantine/hooks',
    '@mantine/notifications',
    '@tabler/icons-react',
    '@tanstack/react-query',
    '@tanstack/react-virtual',
    '@vitejs/plugin-react',
    'react',
    'react-dom',
    'uplot',
    'vite',
    'wouter',
  ],
  'dataplane/roles': [
    'dataplane/contract',
    'dataplane/bulk-port',
    'dataplane/command-line',
    'dataplane/command-socket',
    'dataplane/json',
    'dataplane/limits',
    'dataplane/otlp',
    'dataplane/otlp-intake',
    'dataplane/api-keys',
    'dataplane/upstream',
    'dataplane/tenant-search',
    'dataplane/tenant-export',
    'dataplane/domain',
    'dataplane/memory',
    'dataplane/ports',
    'dataplane/pipeline',
    'dataplane/adapters/bus/embedded',
    'dataplane/adapters/bus/kafka/both-clients',
    'dataplane/adapters/bus/kafka',
    'dataplane/adapters/bus/kafkajs',
    'dataplane/adapters/search',
    'dataplane/adapters/online-store/redis',
    'dataplane/adapters/online-store/embedded',
    'dataplane/adapters/clock',
    'dataplane/adapters/incident-platform',
    'dataplane/adapters/declared-ticketing',
    'dataplane/adapters/language-model',
    'dataplane/adapters/outbound-http',
    'dataplane/search-store/search-server.ts',
    'dataplane/search-store/back-up-store.ts',
    'dataplane/search-store/storage/pinned-file.ts',
    'dataplane/demo',
    'dataplane/http',
    'dataplane/http/http2',
    'dataplane/http/plain-lane',
    'dataplane/kube',
    'dataplane/telemetry',
    'dataplane/lifecycle',
    'dataplane/config',
    'operator/main.ts', // a role like any other, by its table
    'zod',
    'undici',
    'croner',
    '@fastify/busboy',
    'selfsigned',
    '*',
  ],
  'operator/main.ts': [
    'operator/api',
    'operator/controllers',
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
    'dataplane/memory',
    'dataplane/telemetry',
  ],
  'operator/api': ['dataplane/contract', 'dataplane/kube/object.ts', 'zod'],
  'operator/observed': ['dataplane/contract', 'operator/api', 'dataplane/kube/object.ts', 'node:crypto'],
  'operator/desired': [
    'dataplane/contract',
    'operator/api',
    'operator/observed',
    'dataplane/kube/object.ts',
    '@kubernetes/client-node', // its types
    'node:crypto',
  ],
  'operator/runtime': [
    'dataplane/limits/back-off.ts',
    'dataplane/kube',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
    'dataplane/http/server.ts',
    'prom-client',
    '*',
  ],
  'operator/reconcile': ['dataplane/contract/operator-name.ts', 'dataplane/kube', 'node:crypto'],
  'operator/controllers': [
    'operator/api',
    'operator/desired',
    'operator/observed',
    'operator/reconcile',
    'operator/runtime',
    'dataplane/contract/counters.ts',
    'dataplane/contract/operator-name.ts',
    'dataplane/contract/roles.ts',
    'dataplane/limits',
    'dataplane/kube',
    'dataplane/ports',
    'dataplane/telemetry/log.ts',
    'node:crypto',
  ],
}

/** Roles stand apart: only `standalone` and the table start others. */
function findRolesInRoles(): readonly string[] {
  const roleOf = (file: string) => /^dataplane\/roles\/([^/]+)\//.exec(file)?.[1]
  return [...product].flatMap(([file, imports]) => {
    const from = roleOf(file)
    if (from === undefined || from === 'standalone') return []
    const roles = imports.map(({ target }) => roleOf(target)).filter(to => to !== undefined && to !== from)
    return roles.map(to => `${file}: role ${from} may not import role ${to}; only standalone starts other roles`)
  })
}

const root = resolve(import.meta.dirname, '..')
const sources = readGraph(root, findSources(root, ['dataplane', 'operator', 'e2e']))
const product = new Map([...sources].filter(([file]) => !file.startsWith('e2e/') && !isTestCode(file)))
const problems = [
  ...checkTable(ALLOWED, product),
  ...findRolesInRoles(),
  ...findTestCodeInProduct(product),
  ...findCycles(product),
  ...findImportsOfHack(sources),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0)
  console.error('The import table is ALLOWED in hack/check-imports.ts; CONTRIBUTING.md, "Who may import whom", has its rules.')
console.log(`${product.size} files of the product; problems: ${problems.length}`)
process.exit(problems.length === 0 ? 0 : 1)
