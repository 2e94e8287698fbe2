/**
 * The other side of a call, as attributes of a record name it: OpenTelemetry's semantic conventions, old and new. The message beside them often says
 * no more than `request failed` (Decisions 6).
 */
import type { FindHost } from './service-of-host.ts'

const HOST_KEYS = ['server.address', 'peer.service', 'net.peer.name'] as const
const URL_KEYS = ['url.full', 'http.url'] as const
const RPC_KEY = 'rpc.service'
const STORE_KEYS = ['db.system.name', 'db.system'] as const
const BROKER_KEY = 'messaging.system'
const OPERATION_KEYS = ['messaging.operation.type', 'messaging.operation'] as const

const QUEUE_KEYS = ['messaging.destination.name', 'messaging.destination'] as const

/** Attributes that `readCalled` and `readQueue` look at. */
export const CALLED_KEYS: readonly string[] = [
  ...HOST_KEYS,
  ...URL_KEYS,
  RPC_KEY,
  ...STORE_KEYS,
  BROKER_KEY,
  ...OPERATION_KEYS,
  ...QUEUE_KEYS,
]

export interface Called {
  /** Host names, and the one of a URL; small letters, without ports. */
  readonly hosts: readonly string[]
  /** The last part of `shop.v1.PaymentService`, as a plain name: `payment`. */
  readonly rpc: string | undefined
  /** `postgresql`, `redis`, `kafka`. */
  readonly system: string | undefined
  /** A database or a cache was asked: what is used up is used up there. */
  readonly isStore: boolean
}

const MAX_CHARACTERS = 1_024
const URL_HOST = /^\w{1,20}:\/\/(?:[^\s/@]{1,100}@)?([a-z][\w.-]{0,252})/i
const HOST = /^([a-z][\w.-]{0,252})(?::\d{1,5})?$/i
/** Work on a message that was taken: its broker did its part. */
const TAKEN = /^(?:process|settle|deliver)/i

/** A name, which is no prose: who writes it into a log would speak to readers of the cause. */
const QUEUE = /^[\w.:/@-]{1,100}$/

/** The queue or topic that a message was sent to, or came from. */
export function readQueue(attribute: (key: string) => unknown): string | undefined {
  return QUEUE_KEYS.map(attribute).find((value): value is string => typeof value === 'string' && QUEUE.test(value))
}

/** Undefined where no attribute names another side. `attribute` gives an attribute's value by its original key. */
export function readCalled(attribute: (key: string) => unknown): Called | undefined {
  const textOf = (key: string) => {
    const value = attribute(key)
    return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : ''
  }
  if (OPERATION_KEYS.some(key => TAKEN.test(textOf(key)))) return undefined
  const hosts = [...HOST_KEYS.map(key => HOST.exec(textOf(key))?.[1]), ...URL_KEYS.map(key => URL_HOST.exec(textOf(key))?.[1])]
    .filter(host => host !== undefined)
    .map(host => host.toLowerCase())
  const rpc = plainName(textOf(RPC_KEY).split('.').at(-1)!) || undefined
  const store = STORE_KEYS.map(textOf).find(text => text !== '')
  const system = store ?? (textOf(BROKER_KEY) || undefined)
  if (hosts.length === 0 && rpc === undefined && system === undefined) return undefined
  return { hosts: [...new Set(hosts)], rpc, system, isStore: store !== undefined }
}

/** Names of programs that differ from the name of their system. */
const PROGRAMS: ReadonlyMap<string, RegExp> = new Map([
  ['postgresql', /postgres|pgsql|(?:^|-)pg(?:-|$)/],
  ['mysql', /mysql|mariadb/],
  ['mariadb', /mysql|mariadb/],
  ['redis', /redis|valkey/],
  ['mongodb', /mongo/],
  ['memcached', /memcache/],
  ['rabbitmq', /rabbit/],
  ['kafka', /kafka|redpanda/],
  ['elasticsearch', /elastic|opensearch/],
  ['cassandra', /cassandra|scylla/],
  [
    'database',
    /postgres|pgsql|(?:^|-)pg(?:-|$)|mysql|mariadb|mongo|mssql|sql-?server|oracle|cassandra|scylla|cockroach|(?:^|-)(?:db|database)(?:-|$)/,
  ],
  ['microsoft.sql_server', /mssql|sql-?server/],
  ['mssql', /mssql|sql-?server/],
])

/** `orders-db` may be of any SQL system, `orders-cache` of any that keeps what others have. */
const ROLES_OF_SYSTEMS: readonly (readonly [system: RegExp, name: RegExp])[] = [
  [/sql/i, /(?:^|-)(?:db|database)(?:-|$)/],
  [/redis|valkey|memcache/i, /(?:^|-)cache(?:-|$)/],
  [/kafka|rabbitmq|redpanda|nats/i, /(?:^|-)(?:broker|mq|queue)(?:-|$)/],
]
/** `orders-service` uses `orders-db`. */
const ROLE = /-?(?:service|svc|api|app)$/

/** The position in `services` of the service that was called, without the speaker itself; undefined where none of them is meant, or one of several. */
export type FindCalled = (called: Called, speaker: number) => number | undefined

export function createFindCalled(services: readonly string[], findHost: FindHost): FindCalled {
  const names = services.map(name => name.toLowerCase())
  const byPlainName = new Map(names.map((name, service) => [plainName(name), service]))
  const findSystem = (system: string, speaker: number): number | undefined => {
    const program = PROGRAMS.get(system.toLowerCase())
    const isOf = (name: string) => program?.test(name) ?? name.includes(system.toLowerCase())
    const all = (isMeant: (name: string) => boolean) =>
      names.flatMap((name, service) => (service !== speaker && isMeant(name) ? [service] : []))
    const exact = all(isOf)
    const [, role] = ROLES_OF_SYSTEMS.find(([ofRole]) => ofRole.test(system)) ?? []
    const found = exact.length > 0 || role === undefined ? exact : all(name => role.test(name))
    // The name of the user chooses among several databases: `orders-postgres` of `orders`.
    const own = found.length === 1 ? found : found.filter(service => names[service]!.startsWith(names[speaker]!.replace(ROLE, '')))
    return own.length === 1 ? own[0] : undefined
  }
  return ({ hosts, rpc, system }, speaker) => {
    for (const host of hosts) {
      const service = findHost(host)
      if (service !== undefined) return service === speaker ? undefined : service
    }
    const service = rpc === undefined ? undefined : byPlainName.get(rpc)
    if (service !== undefined) return service === speaker ? undefined : service
    return system === undefined ? undefined : findSystem(system, speaker)
  }
}

/** Whether a service is of a system, by its name, or may be: `orders-db` of any that has SQL. */
export function createHasSystem(services: readonly string[]): (system: string) => boolean {
  const names = services.map(name => name.toLowerCase())
  return system => {
    const program = PROGRAMS.get(system.toLowerCase())
    const [, role] = ROLES_OF_SYSTEMS.find(([ofRole]) => ofRole.test(system)) ?? []
    return names.some(name => (program?.test(name) ?? name.includes(system.toLowerCase())) || role?.test(name) === true)
  }
}

/** `payment` for `PaymentService`, `payment-service` and `payments`. */
function plainName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/(?:service|svc)$/, '')
    .replace(/s$/, '')
}
