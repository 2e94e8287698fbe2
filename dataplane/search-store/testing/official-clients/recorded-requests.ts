/** The requests of tools that people point at the store, in `../tool-requests`, and the documents that they are asked of. */
import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Step } from './steps.ts'

interface RecordedRequest {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** One JSON body. */
  readonly body?: unknown
  /** JSON lines. */
  readonly lines?: readonly unknown[]
  readonly gzip?: boolean
}

export interface RecordedTool {
  readonly tool: string
  /** The files of the tool's repository that make these requests. */
  readonly from: readonly string[]
  readonly requests: readonly RecordedRequest[]
}

export const RECORDED_TOOLS: readonly RecordedTool[] = globSync('../tool-requests/*.json', { cwd: import.meta.dirname })
  .sort()
  .map(file => JSON.parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')))

export async function sendRecorded(url: string, { requests }: RecordedTool): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const { name, method, path, headers, body, lines, gzip = false } of requests) {
    const text = lines === undefined ? JSON.stringify(body) : lines.map(line => `${JSON.stringify(line)}\n`).join('')
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(gzip && { 'content-encoding': 'gzip' }) },
      body: gzip ? gzipSync(text) : (text ?? null),
    })
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    steps.push([name, { status: response.status, answer: isJson ? JSON.parse(answer) : answer }])
    if (path.startsWith('/_bulk')) await fetch(`${url}/tools-*/_refresh`, { method: 'POST' })
  }
  return steps
}

const HOUR_MS = 3_600_000
const SERVICES = ['cart', 'checkout', 'search', 'payment']
const MESSAGES = ['connection refused', 'request timeout after 30 s', 'done', 'Timeout: connection reset']
const TEMPLATE = {
  index_patterns: ['tools-*'],
  template: {
    settings: { number_of_shards: 1, number_of_replicas: 0 },
    mappings: {
      properties: {
        '@timestamp': { type: 'date' },
        message: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } },
        level: { type: 'keyword' },
        service: { type: 'keyword' },
        host: { type: 'keyword' },
        duration_ms: { type: 'double' },
        client: { type: 'ip' },
      },
    },
  },
}

/** Logs of two days, one every half hour. */
export async function loadDocuments(url: string): Promise<void> {
  await send(url, 'PUT', '/_index_template/tools', JSON.stringify(TEMPLATE))
  const lines = ['20', '21'].flatMap((day, at) =>
    Array.from({ length: 48 }, (_, number) => {
      const document = {
        '@timestamp': new Date(Date.UTC(2026, 10, 20 + at) + (number * HOUR_MS) / 2).toISOString(),
        message: MESSAGES[number % 4],
        level: ['INFO', 'ERROR', 'WARN'][number % 3],
        ...(number % 7 !== 0 && { service: SERVICES[(number * 3 + at) % 4] }),
        host: `h-${number % 5}`,
        duration_ms: ((number * 37) % 291) + 0.25,
        client: `10.0.${number % 3}.${number}`,
        ...(number % 4 === 0 && { trace_id: `t-${number}` }),
        tags: number % 2 === 0 ? ['a', 'b'] : [],
        http: { status: number % 3 === 0 ? 500 : 200 },
      }
      return `${JSON.stringify({ index: { _index: `tools-2026.11.${day}`, _id: `11-${day}-${number}` } })}\n${JSON.stringify(document)}\n`
    }),
  )
  await send(url, 'POST', '/_bulk?refresh=true', lines.join(''))
}

export async function removeDocuments(url: string): Promise<void> {
  for (const path of ['/_data_stream/tools-*', '/tools-*', '/_index_template/tools*']) await fetch(url + path, { method: 'DELETE' })
}

async function send(url: string, method: string, path: string, body: string): Promise<void> {
  const response = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body })
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`)
}
