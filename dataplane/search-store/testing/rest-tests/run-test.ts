/** Runs a YAML test against a server and says how it went. */
import { request as httpRequest } from 'node:http'
import { parse as parseYaml } from 'yaml'
import { isAssertion, judge, resolve, type Stash, valueAt } from './assertions.ts'
import { parseExactJson, toExactJson } from './exact-json.ts'
import { type Arguments, ParameterError, type RestApi, type RestRequest } from './rest-api.ts'
import type { Step, YamlTest } from './yaml-test.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: unknown
}

export type Outcome =
  | { readonly kind: 'passed' }
  /** The store answers that it has not what the test uses; `why` is its reason. */
  | { readonly kind: 'declined'; readonly why: string }
  | { readonly kind: 'wrong'; readonly why: string }

/** How the embedded store names what it has not: in its own words, or in those of OpenSearch for what that has not. */
const DECLINES = new RegExp(
  [
    'is not supported by the embedded search store',
    'no handler found for uri',
    'No handler for type \\[',
    'contains unrecognized parameters?: \\[',
    'does not support \\[',
    'Incorrect HTTP method for uri',
  ].join('|'),
)

class Failed extends Error {
  readonly answer: Answer | undefined
  constructor(message: string, answer?: Answer) {
    super(message)
    this.answer = answer
  }
}

export async function runYamlTest(test: YamlTest, api: RestApi, url: string): Promise<Outcome> {
  const state: State = { api, url, stash: new Map(), answer: undefined }
  try {
    for (const step of test.steps) await runStep(step, state)
    return { kind: 'passed' }
  } catch (error) {
    const { message, answer } = error as Failed
    const reason = answer === undefined || answer.status < 400 ? undefined : answer.text
    if (reason !== undefined && DECLINES.test(reason)) return { kind: 'declined', why: reasonOf(answer!) }
    return { kind: 'wrong', why: `${message}${answer === undefined ? '' : `: ${answer.status} ${answer.text.slice(0, 300)}`}` }
  } finally {
    for (const step of test.teardown) await runStep(step, state).catch(() => undefined)
  }
}

interface State {
  readonly api: RestApi
  readonly url: string
  readonly stash: Stash
  answer: unknown
}

/** An item of a bulk or of several searches may be the one that is declined. */
const reasonOf = ({ text }: Answer): string => new RegExp(`[^"]*(?:${DECLINES.source})[^"]*`).exec(text)?.[0] ?? text

async function runStep(step: Step, state: State): Promise<void> {
  for (const [kind, content] of Object.entries(step)) {
    if (kind === 'skip') continue
    if (kind === 'do') await call(content as Step, state)
    else if (kind === 'set')
      for (const [path, name] of Object.entries(content as Step)) state.stash.set(String(name), valueAt(state.answer, path, state.stash))
    else if (kind === 'transform_and_set') transform(content as Step, state)
    else if (isAssertion(kind)) check(kind, content, state)
    else throw new Failed(`unknown step ${kind}`)
  }
}

function check(kind: string, content: unknown, { answer, stash }: State): void {
  const problem = judge(kind, content, answer, stash)
  if (problem === undefined) return
  const text = toExactJson(answer)
  throw DECLINES.test(text) ? new Failed(problem, { status: 400, text, body: answer }) : new Failed(problem)
}

function transform(content: Step, { answer, stash }: State): void {
  for (const [name, expression] of Object.entries(content)) {
    const [, user = '', password = ''] = /^#base64EncodeCredentials\((.*),(.*)\)$/.exec(String(expression)) ?? []
    const pair = [user, password].map(path => String(valueAt(answer, path, stash))).join(':')
    stash.set(name, Buffer.from(pair).toString('base64'))
  }
}

const CAUGHT: Readonly<Record<string, number>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  missing: 404,
  request_timeout: 408,
  conflict: 409,
  unavailable: 503,
}
const NO_CALLS = new Set(['catch', 'headers', 'warnings', 'allowed_warnings', 'node_selector'])

async function call(content: Step, state: State): Promise<void> {
  const caught = content['catch'] as string | undefined
  // The last of several calls counts.
  const name = Object.keys(content).findLast(key => !NO_CALLS.has(key) && /^[\w.]+$/.test(key))
  if (name === undefined) throw new Failed('a step without a call')
  const args = (resolve(content[name], state.stash) ?? {}) as Arguments
  let request: RestRequest
  try {
    request = state.api(name, args)
  } catch (error) {
    if (error instanceof ParameterError && caught === 'param') return
    throw new Failed(`${name}: ${(error as Error).message}`)
  }
  const answer = await send(state.url, request, resolve(content['headers'] ?? {}, state.stash) as Record<string, string>)
  const isHead = request.method === 'HEAD'
  state.answer = isHead ? answer.status < 400 : answer.body
  state.stash.set('body', answer.text)
  const ignored = [args['ignore'] ?? []].flat().map(Number)
  const isError = answer.status >= 400 && !(isHead && answer.status === 404) && !ignored.includes(answer.status)
  const asked = `${request.method} ${request.path}`
  if (caught === undefined) {
    if (isError) throw new Failed(asked, answer)
    return
  }
  if (answer.status < 400) throw new Failed(`${asked}: expected an error (${caught})`, answer)
  if (!isCaught(caught, answer)) throw new Failed(`${asked}: expected another error (${caught})`, answer)
}

function isCaught(caught: string, { status, text, body }: Answer): boolean {
  if (/^\s*\//.test(caught)) {
    const pattern = new RegExp(caught.trim().slice(1, -1))
    return pattern.test(text) || (typeof body === 'object' && pattern.test(texts(body).join('\n')))
  }
  const expected = CAUGHT[caught]
  return expected === undefined ? !Object.values(CAUGHT).includes(status) || status === 400 : status === expected
}

function texts(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [String(value)]
  return [toExactJson(value), ...Object.values(value).flatMap(texts)]
}

export function send(url: string, { method, path, body, contentType }: RestRequest, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((done, failed) => {
    const sent = {
      ...(body !== undefined && { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }),
      ...lowerCase(headers),
    }
    const request = httpRequest(`${url}${path}`, { method, headers: sent, timeout: 60_000 }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', failed)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        done({ status: response.statusCode!, text, body: parse(text, response.headers['content-type'] ?? '') })
      })
    })
    request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path} within a minute`)))
    request.on('error', failed)
    request.end(body)
  })
}

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function parse(text: string, type: string): unknown {
  if (type.includes('yaml')) return parseYaml(text)
  return type.includes('json') && text !== '' ? parseExactJson(text) : text
}
