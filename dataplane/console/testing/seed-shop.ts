/** Records of a small shop for tests and pictures of the console: calm for two hours, then its payment provider gets slow. The same at each call. */

export interface ShopOptions {
  /** The newest record is of this time, ms since the epoch. */
  readonly endMs: number
  /** Default 120. */
  readonly minutes?: number
  /** How long before the end the trouble begins; 0: never. Default 10. */
  readonly troubleMinutes?: number
}

interface Service {
  readonly name: string
  /** Records a minute. */
  readonly rate: number
  readonly lines: readonly (readonly [level: string, line: string, weight: number])[]
  readonly trouble?: readonly (readonly [level: string, line: string, weight: number])[]
}

const SERVICES: readonly Service[] = [
  { name: 'storefront', rate: 14, lines: [['INFO', 'GET /products/# 200 in # ms', 20], ['INFO', 'GET /cart 200 in # ms', 10], ['WARN', 'slow page: /search took # ms', 1]], trouble: [['ERROR', 'GET /checkout 502 after # ms', 4]] },
  { name: 'checkout', rate: 8, lines: [['INFO', 'order # placed', 10], ['DEBUG', 'cart # has # lines', 6], ['WARN', 'voucher # has expired', 1]], trouble: [['ERROR', 'payment of order # failed: timeout after # ms waiting for payments', 9], ['ERROR', 'order # rolled back', 3]] },
  { name: 'payments', rate: 6, lines: [['INFO', 'charge # authorised in # ms', 10], ['INFO', 'settled # charges', 2]], trouble: [['ERROR', 'connection refused: provider acquirer-eu:443, attempt #', 8], ['FATAL', 'pool of connections to acquirer-eu is exhausted, # waiting', 2]] },
  { name: 'inventory', rate: 7, lines: [['INFO', 'reserved # of article #', 10], ['WARN', 'article # is below its minimum: # left', 1]] },
  { name: 'search', rate: 9, lines: [['INFO', 'query took # ms, # hits', 20], ['ERROR', 'shard # did not answer in # ms', 1]] },
  { name: 'mailer', rate: 3, lines: [['INFO', 'sent confirmation of order #', 10], ['WARN', 'mailbox of customer # is full', 1]] },
  { name: 'accounts', rate: 4, lines: [['INFO', 'customer # logged in', 10], ['WARN', 'wrong password for customer #', 2]] },
  { name: 'shipping', rate: 3, lines: [['INFO', 'parcel # handed to carrier', 10], ['DEBUG', 'label # printed in # ms', 4]] },
] // biome-ignore format: one service a line

const BATCH = 1_000

/** OTLP requests, in the order of time. */
function* shopRequests({ endMs, minutes = 120, troubleMinutes = 10 }: ShopOptions): Generator<object> {
  const random = createRandom(42)
  const troubleMs = endMs - troubleMinutes * 60_000
  const records: { readonly service: string; readonly record: object }[] = []
  for (let minute = 0; minute < minutes; minute++) {
    const startMs = endMs - (minutes - minute) * 60_000
    for (const { name, rate, lines, trouble = [] } of SERVICES) {
      const isTrouble = troubleMinutes > 0 && startMs >= troubleMs
      const possible = isTrouble ? [...lines, ...trouble] : lines
      const count = Math.round(rate * (0.7 + random() * 0.6 + (isTrouble ? trouble.length * 0.3 : 0)))
      for (let i = 0; i < count; i++) {
        const [level, line] = pick(possible, random())
        const atMs = startMs + Math.floor(random() * 60_000)
        records.push({ service: name, record: toRecord(level, fill(line, random), atMs, random) })
      }
    }
  }
  for (let from = 0; from < records.length; from += BATCH) {
    const bySender = Object.groupBy(records.slice(from, from + BATCH), ({ service }) => service)
    yield {
      resourceLogs: Object.entries(bySender).map(([service, own = []]) => ({
        resource: {
          attributes: Object.entries({
            'service.name': service,
            'host.name': `${service}-1`,
            'deployment.environment.name': 'production',
            'cloud.region': 'eu-central-1',
          }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
        },
        scopeLogs: [{ logRecords: own.map(({ record }) => record) }],
      })),
    }
  }
}

/** Sends them through the dashboard; resolves to the number of requests. */
export async function seedShop(dashboard: string, options: ShopOptions): Promise<number> {
  let requests = 0
  for (const request of shopRequests(options)) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${dashboard}/api/otel/v1/logs`, { method: 'POST', headers, body: JSON.stringify(request) })
    if (!response.ok) throw new Error(`seed: ${response.status} ${await response.text()}`)
    requests++
  }
  return requests
}

function toRecord(severityText: string, stringValue: string, atMs: number, random: () => number): object {
  return {
    timeUnixNano: `${atMs}${String(Math.floor(random() * 1e6)).padStart(6, '0')}`,
    severityText,
    body: { stringValue },
    traceId: hex(32, random),
    spanId: hex(16, random),
    attributes: [
      { key: 'thread.name', value: { stringValue: `worker-${Math.floor(random() * 8)}` } },
      { key: 'duration_ms', value: { intValue: String(Math.floor(random() * 400)) } },
    ],
  }
}

function pick(lines: Service['lines'], at: number): Service['lines'][number] {
  let left = at * lines.reduce((sum, [, , weight]) => sum + weight, 0)
  return (
    lines.find(([, , weight]) => {
      left -= weight
      return left < 0
    }) ?? lines[0]!
  )
}

function fill(line: string, random: () => number): string {
  return line.replace(/#/g, () => String(1 + Math.floor(random() * 9_000)))
}

function hex(length: number, random: () => number): string {
  return Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
