/** A language model that is none: a server with the wire formats of OpenAI, Anthropic and Ollama that behaves as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ANSWERS, type AnswerName } from './answers.ts'

/** The fate of a question: an answer by name, or a fault. */
export type Behaviour =
  | AnswerName
  | 'stall'
  | 'reset'
  | '401'
  | '429'
  | '429-seconds'
  | '429-date'
  | '500'
  | 'html'
  | 'empty'
  | 'flood'
  /** 400 to what many servers do not know. */
  | 'no-schema'
  | 'no-temperature'
  | 'only-max_tokens'
  | 'only-max_completion_tokens'
  /** 404 to all that is not below `/v1`, such as Ollama's own interface. */
  | 'only-v1'
  /** As Ollama answers. */
  | 'no-model'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

export interface MockModel {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** The next behaviours, one after another; the last of them stays. */
  behave(...behaviours: readonly (Behaviour | ((user: string) => string))[]): void
  stop(): Promise<void>
}

interface Fault {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

const errorOf = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } })

const FAULTS: Readonly<Partial<Record<Behaviour, (request: SeenRequest) => Fault | undefined>>> = {
  // As OpenAI does, which repeats what it was sent.
  '401': ({ headers }) => ({ status: 401, body: errorOf(`Incorrect API key provided: ${headers.authorization ?? headers['x-api-key']}.`) }),
  '429': () => ({ status: 429, body: errorOf('Rate limit reached') }),
  '429-seconds': () => ({ status: 429, headers: { 'retry-after': '2' }, body: errorOf('Rate limit reached') }),
  '429-date': () => ({ status: 429, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, body: errorOf('Quota') }),
  '500': () => ({ status: 500, body: errorOf('The server had an error') }),
  html: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html><body>Sign in</body></html>' }),
  flood: () => ({ status: 200, body: `{"choices": [{"message": {"content": "${'x'.repeat(2_000_000)}"}}]}` }),
  'no-schema': ({ body }) =>
    body['response_format'] !== undefined || body['output_config'] !== undefined || body['format'] !== undefined
      ? { status: 400, body: errorOf('response_format: unsupported') }
      : undefined,
  'no-temperature': ({ body }) =>
    body['temperature'] === undefined ? undefined : { status: 400, body: errorOf('`temperature` is deprecated for this model.') },
  'only-max_tokens': ({ body }) =>
    body['max_tokens'] === undefined ? { status: 400, body: errorOf('Unrecognized request argument: max_completion_tokens') } : undefined,
  'only-max_completion_tokens': ({ body }) =>
    body['max_completion_tokens'] === undefined
      ? {
          status: 400,
          body: errorOf("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        }
      : undefined,
  'only-v1': ({ path }) => (path.startsWith('/v1/') ? undefined : { status: 404, body: '404 page not found' }),
  'no-model': ({ body }) => ({ status: 404, body: JSON.stringify({ error: `model '${body['model']}' not found` }) }),
}

/** Behaviours of a request for the list of models, too. */
const ALSO_OF_LISTS: ReadonlySet<Behaviour | ((user: string) => string)> = new Set(['401', '500', 'html', 'reset', 'stall'])

export async function startMockModel({ host = '127.0.0.1', port = 0, behaviour = 'good' as Behaviour } = {}): Promise<MockModel> {
  const requests: SeenRequest[] = []
  let queue: readonly (Behaviour | ((user: string) => string))[] = [behaviour]

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await read(request)
    requests.push(seen)
    // Lists of models are no questions.
    if (seen.method === 'GET' && !ALSO_OF_LISTS.has(queue[0]!))
      return send(response, { status: 200, body: JSON.stringify({ object: 'list', data: [] }) })
    const next = queue[0]!
    if (queue.length > 1) queue = queue.slice(1)
    if (next === 'stall') return
    if (next === 'reset') {
      request.socket.destroy()
      return
    }
    const fault = typeof next === 'string' ? FAULTS[next]?.(seen) : undefined
    if (fault !== undefined) return send(response, fault)
    const user = userOf(seen.body)
    const answer = typeof next === 'function' ? next : (ANSWERS[next as AnswerName] ?? ANSWERS.good)
    const text = next === 'empty' ? '' : answer(user)
    send(response, { status: 200, body: JSON.stringify(formOf(seen.path)(text)) })
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    behave(...behaviours) {
      queue = behaviours
    },
    stop() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

function formOf(path: string): (text: string) => object {
  if (path.endsWith('/messages')) return asMessage
  return path.endsWith('/api/chat') ? asChat : asCompletion
}

function asChat(text: string): object {
  return {
    model: 'mock',
    created_at: '2026-11-21T16:00:00Z',
    message: { role: 'assistant', content: text },
    done: true,
    done_reason: text === '' ? 'length' : 'stop',
    prompt_eval_count: 1_000,
    eval_count: 100,
  }
}

function asCompletion(text: string): object {
  return {
    id: 'chatcmpl-mock',
    object: 'chat.completion',
    model: 'mock',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: text === '' ? 'length' : 'stop' }],
    usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
  }
}

function asMessage(text: string): object {
  return {
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    model: 'mock',
    content: [{ type: 'text', text }],
    stop_reason: text === '' ? 'max_tokens' : 'end_turn',
    usage: { input_tokens: 1_000, output_tokens: 100 },
  }
}

function userOf({ messages }: SeenRequest['body']): string {
  const said = (messages ?? []) as readonly { readonly role: string; readonly content: string }[]
  return said.findLast(({ role }) => role === 'user')?.content ?? ''
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const { method = '', url: path = '', headers } = request
  return { method, path: path.split('?')[0]!, headers, body: text === '' ? {} : JSON.parse(text) }
}

function send(response: ServerResponse, { status, headers = {}, body }: Fault): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}
