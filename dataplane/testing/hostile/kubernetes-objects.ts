/**
 * Custom resources as they must never be, and yet may be where the CRD is of another release or was weakened: wrong types, missing parts, huge texts and
 * lists, names of members of every object, odd Unicode. The same seed gives the same objects.
 */
import type { KubernetesObject } from '../../kube/object.ts'

export type HostileKind = 'LogPipeline' | 'TicketingRoute'

export interface HostileObjects {
  /** The next one; its metadata is what the API server sees to itself. */
  next(kind: HostileKind, name: string, namespace: string): KubernetesObject
}

/** etcd takes no more: 1.5 MiB. */
const MAX_CHARACTERS = 1_500_000

type Json = null | boolean | number | string | Json[] | { [field: string]: Json }
type Container = Json[] | { [field: string]: Json }
type Random = () => number

const SECRET = { secret: { name: 'search' } }

/** Sound, and with as many fields as can stand side by side. */
const SOUND: Readonly<Record<HostileKind, readonly Json[]>> = {
  LogPipeline: [
    {
      mode: 'Distributed',
      tenant: 'shop',
      paused: false,
      image: 'registry.example/logpipeline:1',
      imagePullPolicy: 'Always',
      logLevel: 'debug',
      bus: {
        bootstrapServers: ['kafka:9092', 'kafka-1:9092'],
        topics: 'Managed',
        topicPrefix: 'shop-',
        replicationFactor: 3,
        tls: { caSecret: { name: 'search', key: 'ca.crt' }, clientSecret: { name: 'search', certificateKey: 'a', privateKeyKey: 'b' } },
        sasl: { mechanism: 'plain', username: 'u', credentials: { ...SECRET, keys: { BUS_PASSWORD: 'password' } } },
      },
      search: {
        endpoint: 'https://search:9200',
        credentials: SECRET,
        caSecret: { name: 'search' },
        retentionDays: 14,
        shards: 3,
        replicas: 1,
      },
      collector: {
        autoscaling: { minReplicas: 2, maxReplicas: 8, targetCpuPercent: 70 },
        resources: { requests: { cpu: 1, memory: '1Gi' }, limits: { memory: '2Gi' } },
        service: { type: 'NodePort', annotations: { a: 'b' } },
      },
      bridge: { replicas: 2, anomalyThreshold: 3, windowSize: 100 },
      stream: { enabled: true, replicas: 2 },
      features: { enabled: true, schedule: '@hourly', onlineStore: { url: 'redis://valkey:6379' } },
      ticketing: {
        anomaly: { minimumScore: 0.9, lookbackWindow: '30m' },
        llm: { provider: 'openai', model: 'small', baseUrl: 'https://models.example/v1', credentials: SECRET },
        routeSelector: { matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      },
      agent: { enabled: true },
      networkPolicy: { enabled: true, allowFrom: [{ a: 'b' }] },
      monitoring: { serviceMonitor: true, rules: true, labels: { release: 'prometheus' } },
      podTemplate: {
        labels: { a: 'b' },
        annotations: { a: 'b' },
        nodeSelector: { disk: 'fast' },
        tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule', tolerationSeconds: 1 }],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'high',
        imagePullSecrets: [{ name: 'registry' }],
      },
    },
    {
      mode: 'Distributed',
      tenant: 'shop',
      bus: { strimzi: { cluster: 'kafka', listener: 'tls' } },
      search: { endpoint: 'https://search:9200', credentials: { externalSecret: { name: 'search' } } },
      bridge: { autoscaling: { minReplicas: 2, maxReplicas: 6, keda: true, lagThreshold: 5000 } },
    },
    { mode: 'AllInOne', tenant: 'shop', allInOne: { storage: { size: '5Gi', storageClassName: 'fast' }, resources: {} }, search: SECRET },
  ],
  TicketingRoute: [
    {
      severities: ['critical', 'high'],
      services: ['checkout*', 'payment'],
      platform: 'jira',
      settings: { baseUrl: 'https://a.example', userEmail: 'a@example.com', projectKey: 'OPS' },
      credentials: { ...SECRET, keys: { apiToken: 'token' } },
      escalation: false,
      enabled: true,
    },
    { severities: ['low'], platform: 'pagerduty', credentials: { externalSecret: { name: 'search' } } },
  ],
}

/** Names that every object answers to, and others that break what is put together from them. */
const NAMES = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '',
  'a/b',
  '..',
  'a\u0000b',
  '\ud83d\ude00',
  'x'.repeat(70_000),
]

const VALUES: readonly ((random: Random) => Json)[] = [
  () => null,
  () => true,
  random => pick(random, [-1, 0, 0.1, -0, 1e308, 2 ** 53, -(2 ** 31), 1e-300]),
  random =>
    pick(random, [
      '',
      ' ',
      '\u0000',
      '\ud800',
      '\u202eevil',
      'e\u0301'.repeat(500),
      '{{ .Values }}',
      '$(HOSTNAME)',
      "'\n- x: y\n",
      '../../etc',
    ]),
  random => pick(random, NAMES),
  () => '\ud83d\ude00'.repeat(100_001).slice(1),
  () => [],
  () => ({}),
  random => pick(random, [[[]], [null], [1, 'a', {}], [{ name: 1 }], [['__proto__']]]),
  random => JSON.parse(`{${JSON.stringify(pick(random, NAMES))}:${JSON.stringify(pick(random, NAMES))}}`) as Json,
  random => Array.from({ length: 5000 }, (_, n) => pick<Json>(random, [n, `item-${n}`, { name: `item-${n}` }])),
  random => Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field-${n}`, pick<Json>(random, [n, 'a'])])),
  () => nested(500),
]

const MUTATIONS: readonly ((random: Random, parent: Container, key: string | number) => void)[] = [
  (random, parent, key) => set(parent, key, pick(random, VALUES)(random)),
  (random, parent, key) => set(parent, key, pick(random, VALUES)(random)),
  (_, parent, key) => (Array.isArray(parent) ? void parent.splice(Number(key), 1) : void delete parent[key]),
  (random, parent) => set(parent, Array.isArray(parent) ? parent.length : pick(random, NAMES), pick(random, VALUES)(random)),
  (random, parent) => set(parent, Array.isArray(parent) ? parent.length : pick(random, NAMES), 'a'),
  (_, parent, key) =>
    set(
      parent,
      key,
      Array.from({ length: 3000 }, () => get(parent, key)),
    ),
  (_, parent, key) => set(parent, key, [get(parent, key)]),
]

export function createHostileObjects(seed: number): HostileObjects {
  const random = createRandom(seed)
  return {
    next(kind, name, namespace) {
      let holder: { [field: string]: Json }
      do {
        holder = { spec: structuredClone(pick(random, SOUND[kind])) }
        for (let left = 1 + Math.floor(random() * 3); left > 0; left--) mutate(random, holder)
        if (random() < 0.1) mutateStatus(random, holder)
      } while (charactersOf(holder, MAX_CHARACTERS) > MAX_CHARACTERS)
      return { apiVersion: 'logpipeline.dev/v1alpha1', kind, metadata: { name, namespace }, ...holder }
    },
  }
}

function mutate(random: Random, holder: Container): void {
  const place = pickPlace(random, holder)
  if (place !== undefined) pick(random, MUTATIONS)(random, ...place)
}

function mutateStatus(random: Random, holder: { [field: string]: Json }): void {
  const condition = { type: 'Ready', status: 'False', reason: 'X', message: '', lastTransitionTime: 'never', observedGeneration: 1 }
  const status: { [field: string]: Json } = {
    observedGeneration: 1,
    conditions: [condition],
    inputsHash: '',
    components: { collector: {} },
  }
  holder['status'] = status
  mutate(random, status)
}

/** A member of the value or of what is in it, each as likely as the others; of long lists only the first. */
function pickPlace(random: Random, value: Container): readonly [Container, string | number] | undefined {
  const places: (readonly [Container, string | number])[] = []
  const walk = (inner: Json, depth: number): void => {
    if (typeof inner !== 'object' || inner === null || depth > 8) return
    for (const key of Object.keys(inner).slice(0, 50)) {
      places.push([inner, Array.isArray(inner) ? Number(key) : key])
      walk(get(inner, key), depth + 1)
    }
  }
  walk(value, 0)
  return places.length === 0 ? undefined : pick(random, places)
}

/** About as many as its JSON has; counts no further than a little beyond the limit. */
function charactersOf(value: Json, limit: number): number {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value.length + 2 : 8
  let total = 2
  for (const key of Object.keys(value)) {
    if (total > limit) return total
    total += key.length + 4 + charactersOf(get(value, key), limit - total)
  }
  return total
}

function get(parent: Container, key: string | number): Json {
  return (parent as { [field: string]: Json })[key] ?? null
}

/** Also a member called `__proto__`. */
function set(parent: Container, key: string | number, value: Json): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
}

function nested(depth: number): Json {
  return depth === 0 ? 'deep' : { a: nested(depth - 1) }
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!
}

/** Mulberry32: numbers in [0, 1). */
function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
