/** The product's interfaces as its users call them. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface SentRecord {
  readonly id: string
  readonly service: string
  readonly severityText: string
  readonly body: string
  readonly attempt: number
  readonly timeUnixNano: string
}

/** Sends records as OTLP JSON; resolves to the HTTP status. */
export async function postRecords(collector: string, records: readonly SentRecord[]): Promise<number> {
  const response = await exportRecords(collector, records)
  await response.text()
  return response.status
}

/** Sends records as OTLP JSON, `resource` among the attributes of their resources; rejects without an answer. */
export async function exportRecords(
  collector: string,
  records: readonly SentRecord[],
  resource: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const resourceLogs = Object.entries(Object.groupBy(records, record => record.service)).map(([service, own]) => ({
    resource: {
      attributes: Object.entries({ ...resource, 'service.name': service }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    },
    scopeLogs: [
      {
        logRecords: own!.map(({ id, severityText, body, attempt, timeUnixNano }) => ({
          timeUnixNano,
          severityText,
          body: { stringValue: body },
          attributes: [
            { key: 'record.id', value: { stringValue: id } },
            { key: 'attempt', value: { intValue: String(attempt) } },
          ],
        })),
      },
    ],
  }))
  return await fetch(`${collector}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceLogs }),
    signal: AbortSignal.timeout(20_000),
  })
}

export async function countDocuments(search: string, index: string, query: object = { match_all: {} }): Promise<number> {
  const answer = (await postJson(`${search}/${index}/_count`, { query })) as { count: number }
  return answer.count
}

/** Every log document that matches, in the exact order of decisions: timestamp, nanos, log_id; those that share all three as they were written. */
export async function scanLogs(search: string, query: object): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  let after: unknown
  for (;;) {
    const page = (await postJson(`${search}/service-logs-*/_search`, {
      size: 5_000,
      query,
      sort: [{ timestamp: 'asc' }, { nanos: 'asc' }, { log_id: 'asc' }, { _seq_no: 'asc' }],
      ...(after === undefined ? {} : { search_after: after }),
    })) as { hits: { hits: { _source: Record<string, unknown>; sort: unknown }[] } }
    const hits = page.hits.hits
    if (hits.length === 0) return all
    all.push(...hits.map(hit => hit._source))
    after = hits.at(-1)!.sort
  }
}

export interface ListedIncident {
  readonly id: string
  readonly service: string
  readonly status: string
  readonly severity: string
  readonly anomalyCount: number
  readonly affectedServices: readonly string[]
}

export async function incidents(ticketing: string): Promise<readonly ListedIncident[]> {
  const response = await fetch(`${ticketing}/api/incidents?limit=1000`)
  if (!response.ok) throw new Error(`incidents: ${response.status} ${await response.text()}`)
  return (await response.json()) as ListedIncident[]
}

/** The bridge's counters by name. */
export async function bridgeCounters(bridge: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${bridge}/metrics`)).text()
  return Object.fromEntries([...text.matchAll(/^(service_bridge_\w+) ([\d.e+]+)$/gm)].map(([, name, value]) => [name!, Number(value)]))
}

/** By topic: messages that the slowest step has not read, at most a second ago; the letters that lie in the dead-letter queue. */
export async function unreadMessages(agent: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${agent}/metrics`)
  if (!response.ok) throw new Error(`agent: ${response.status} ${await response.text()}`)
  const { bus, deadLetters } = (await response.json()) as AgentState
  const lags = Object.entries(bus.topics).map(([topic, { consumerLag }]) => [topic, consumerLag] as const)
  return Object.fromEntries([...lags, ['dead letters', deadLetters.letters]])
}

interface AgentState {
  readonly bus: { readonly topics: Readonly<Record<string, { readonly consumerLag: number }>> }
  readonly deadLetters: { readonly letters: number }
}

/** How often a caller comes again that was told to come later. */
const MAX_BUSY = 5
const BUSY_WAIT_MS = 1_000

/** 429 is no failure: a server that is under attack may ask its callers to come again. */
export async function postJson(url: string, body: object, busy = 0): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  if (response.status === 429 && busy < MAX_BUSY) {
    await response.text()
    await sleep(BUSY_WAIT_MS)
    return postJson(url, body, busy + 1)
  }
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${(await response.text()).slice(0, 500)}`)
  return await response.json()
}
