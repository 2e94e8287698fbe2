/** How long `POST /api/v1/analyze` takes: records made up and sent through the front door, then asked for over HTTP, one call after the other. */
import { hash } from 'node:crypto'
import type { Standalone } from '../../../e2e/testing/standalone-process.ts'
import { quantiles } from '../quantiles.ts'
import { Random } from '../random.ts'
import { formatTable } from '../table.ts'
import { MINUTE_MS } from './fault-timeline.ts'
import { postJson } from './post-json.ts'

const TENANT = 'analyze-time'
/** The tenant of the records that `fillStore` makes up. */
const FILLED_TENANT = 'default'
const SERVICES = 20
/** Records of one request, over a few of the services. */
const LINES = 12
const REQUESTS_AT_ONCE = 50
const CALLS = 20

export interface AnalyzeLoad {
  readonly name: string
  /** Records of the fifteen minutes before, and of the three of the window. */
  readonly before: number
  readonly within: number
}

const ANALYZE_LOADS: readonly AnalyzeLoad[] = [
  { name: '50,000 records, 8,000 of them in the window', before: 42_000, within: 8_000 },
  { name: '180,000 records, 30,000 of them in the window', before: 150_000, within: 30_000 },
]

/** Sends each load as a tenant of its own, and prints the quantiles of twenty answers; of the records of a day that `fillStore` stored as well. */
export async function measureAnalyze(
  standalone: Standalone,
  untilStored: (tenant: string, records: number) => Promise<void>,
  filled?: { readonly records: number; readonly endMs: number },
): Promise<void> {
  const rows: string[][] = []
  const ask = async (name: string, tenant: string, atMs: number) => {
    const times: number[] = []
    for (let call = 0; call < CALLS; call++) times.push(await timeOf(standalone.ticketing, tenant, atMs))
    const { p50, p95, max } = quantiles(times)
    rows.push([name, ...[times[0]!, p50, p95, max].map(ms => String(Math.round(ms)))])
  }
  for (const [at, load] of ANALYZE_LOADS.entries()) {
    const tenant = `${TENANT}-${at}`
    const atMs = Date.now() - 4 * MINUTE_MS
    await send(standalone.collector, tenant, load.before, atMs - 15 * MINUTE_MS, 15 * MINUTE_MS)
    await send(standalone.collector, tenant, load.within, atMs, 3 * MINUTE_MS)
    await untilStored(tenant, load.before + load.within)
    await ask(load.name, tenant, atMs)
  }
  if (filled !== undefined) await ask(`${filled.records} of one tenant over a day`, FILLED_TENANT, filled.endMs - 4 * MINUTE_MS)
  console.log(`\n${formatTable([`analyze, ${CALLS} calls, ms`, 'first', 'p50', 'p95', 'longest'], rows)}`)
}

async function timeOf(ticketing: string, tenant: string, atMs: number): Promise<number> {
  const startMs = performance.now()
  const response = await fetch(`${ticketing}/api/v1/analyze`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-tenant-id': tenant },
    body: JSON.stringify({ at: new Date(atMs).toISOString() }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`analyze answered ${response.status}: ${text}`)
  return performance.now() - startMs
}

async function send(collector: string, tenant: string, records: number, fromMs: number, spanMs: number): Promise<void> {
  const requests = Math.ceil(records / LINES)
  const random = new Random(records)
  const next = () => random.uint32() / 2 ** 32
  for (let first = 0; first < requests; first += REQUESTS_AT_ONCE) {
    const lines = Array.from({ length: Math.min(REQUESTS_AT_ONCE, requests - first) }, (_, i) =>
      lineRecords(tenant, first + i, fromMs + ((first + i) / requests) * spanMs, next),
    ).flat()
    const body = JSON.stringify({ resourceLogs: lines })
    await postJson(`${collector}/v1/logs`, body)
  }
}

/** One request: services call each other down a path, each with a span of its own. */
function lineRecords(tenant: string, request: number, startMs: number, next: () => number): readonly object[] {
  const traceId = hash('sha256', `${tenant} ${startMs} ${request}`, 'hex').slice(0, 32)
  const entry = Math.floor(next() * SERVICES)
  let timeMs = startMs
  return Array.from({ length: LINES }, (_, line) => {
    timeMs += 1 + next() * 20
    const service = `service-${(entry + Math.floor(line / 3)) % SERVICES}`
    return {
      resource: {
        attributes: [
          { key: 'service.name', value: { stringValue: service } },
          { key: 'tenant_id', value: { stringValue: tenant } },
          { key: 'host.name', value: { stringValue: `${service}-5d9f7c-x2` } },
        ],
      },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: `${BigInt(Math.floor(timeMs * 1_000)) * 1_000n}`,
              severityText: 'INFO',
              body: {
                stringValue: `step ${line % 3} of order ${request}: ${service} did what it was asked for in ${Math.floor(next() * 90)} ms`,
              },
              traceId,
              spanId: hash('sha256', `${traceId} ${service}`, 'hex').slice(0, 16),
              attributes: [
                { key: 'code.function.name', value: { stringValue: `step${line % 3}` } },
                { key: 'thread.name', value: { stringValue: `http-${request % 16}` } },
              ],
            },
          ],
        },
      ],
    }
  })
}
