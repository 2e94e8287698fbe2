/** What a call by name, such as `indices.create`, is as an HTTP request: read from the specification of the REST API that comes with the tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toExactJson } from './exact-json.ts'

export interface RestRequest {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly contentType: string
}

/** A client of OpenSearch would not send the call at all. */
export class ParameterError extends Error {}

export type Arguments = Readonly<Record<string, unknown>>

interface Path {
  readonly path: string
  readonly methods: readonly string[]
}

interface Call {
  readonly url: { readonly paths: readonly Path[] }
  readonly params?: Readonly<Record<string, unknown>>
  readonly body?: { readonly serialize?: string; readonly required?: boolean }
}

const COMMON = ['pretty', 'human', 'error_trace', 'source', 'filter_path', 'ignore']

export type RestApi = (name: string, args: Arguments) => RestRequest

export function readRestApi(dir: string): RestApi {
  const calls = new Map<string, Call>()
  for (const file of readdirSync(dir).filter(name => name.endsWith('.json') && !name.startsWith('_')))
    for (const [name, call] of Object.entries(JSON.parse(readFileSync(join(dir, file), 'utf8')) as Record<string, Call>))
      calls.set(name, call)
  return (name, args) => {
    const call = calls.get(name)
    if (call === undefined) throw new ParameterError(`no call [${name}]`)
    return requestOf(call, args)
  }
}

function requestOf(call: Call, args: Arguments): RestRequest {
  const parts = new Set(call.url.paths.flatMap(({ path }) => namesIn(path)))
  const given = new Set(Object.keys(args).filter(name => parts.has(name)))
  const chosen = call.url.paths
    .filter(({ path }) => namesIn(path).every(name => given.has(name)))
    .toSorted((a, b) => namesIn(b.path).length - namesIn(a.path).length)[0]
  if (chosen === undefined || namesIn(chosen.path).length < given.size) throw new ParameterError(`no path for [${[...given].join(', ')}]`)
  const query: string[] = []
  for (const [name, value] of Object.entries(args)) {
    if (name === 'body' || given.has(name) || name === 'ignore') continue
    if (!COMMON.includes(name) && call.params?.[name] === undefined) throw new ParameterError(`unknown parameter [${name}]`)
    query.push(`${name}=${encodeURIComponent(textOf(value))}`)
  }
  const path = chosen.path.replace(/\{(\w+)\}/g, (_all, name: string) => encodePart(textOf(args[name])))
  const body = bodyOf(args['body'], call.body?.serialize === 'bulk')
  if (body === undefined && call.body?.required === true) throw new ParameterError('the body is required')
  return {
    method: methodOf(chosen.methods, body !== undefined),
    path: query.length > 0 ? `${path}?${query.join('&')}` : path,
    body,
    contentType: call.body?.serialize === 'bulk' ? 'application/x-ndjson' : 'application/json',
  }
}

const namesIn = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)

const encodePart = (text: string): string => encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%2A', '*')

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(textOf).join(',') : value === null || value === undefined ? '' : String(value)

function methodOf(methods: readonly string[], hasBody: boolean): string {
  const fitting = hasBody ? methods.find(method => method !== 'GET' && method !== 'HEAD') : undefined
  return fitting ?? methods[0]!
}

/** Bodies of lines are lists of objects or of texts, or one text. */
function bodyOf(body: unknown, areLines: boolean): string | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return areLines && !body.endsWith('\n') ? `${body}\n` : body
  if (!areLines || !Array.isArray(body)) return toExactJson(body)
  return body.map(line => `${typeof line === 'string' ? line.replace(/\n$/, '') : toExactJson(line)}\n`).join('')
}
