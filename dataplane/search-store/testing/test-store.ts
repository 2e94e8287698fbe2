/** A search store on a temporary directory and a free port, with the official client. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@opensearch-project/opensearch'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createSearchServer, type SearchServerConfig } from '../search-server.ts'
import { createLocalRunner } from './local-runner.ts'

/** The time of `now` in tests: a Saturday. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0)

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of the server have any shape
  readonly body: any
  readonly headers: Headers
  readonly text: string
}

export interface TestStore {
  readonly url: string
  readonly client: Client
  /** Errors that the server logged; a test expects none. */
  readonly logged: readonly unknown[]
  /** A request without the client: objects go as JSON, texts as they are. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Closes the store and opens it again on the same directory. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** In this thread, which is quicker to start; `TEST_QUERIES=process` runs every suite as the product does. */
const QUERIES = process.env['TEST_QUERIES'] === 'process' ? {} : { createQueryRunner: createLocalRunner }

export async function startTestStore(options: Partial<SearchServerConfig> = {}): Promise<TestStore> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'search-store-'))
  const logged: unknown[] = []
  const log = { info() {}, warn: (fields: object) => void logged.push(fields), error: (fields: object) => void logged.push(fields) }
  const clock = createFakeClock(NOW_MS)
  const open = async (port: number) => {
    const server = createSearchServer({ dir, host: '127.0.0.1', port, clock, log, ...QUERIES, ...options })
    await server.start()
    return server
  }
  let server = await open(0)
  const { port } = server.address!
  const url = `http://127.0.0.1:${port}`
  const client = new Client({ node: url, maxRetries: 0 })
  return {
    url,
    client,
    logged,
    request: (method, path, body, headers) => send(url, method, path, body, headers),
    async restart() {
      await server.stop()
      server = await open(port)
    },
    async stop() {
      await client.close()
      await server.stop()
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function send(url: string, method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const payload =
    body === undefined ? null : typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body)
  const response = await fetch(url + path, {
    method,
    body: payload,
    headers: { ...(payload !== null && { 'content-type': 'application/json' }), connection: 'close', ...headers },
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers, body: isJson(response) && text !== '' ? JSON.parse(text) : undefined }
}

const isJson = (response: Response): boolean => (response.headers.get('content-type') ?? '').includes('json')
