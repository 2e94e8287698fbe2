/** Why the API server did not do what it was asked, as data, with what the user can do about it. */

export interface ApiFailure {
  /** The HTTP status; 0: there was no answer. */
  readonly status: number
  /** The reason of the API server (`NotFound`, `Conflict`, `Expired` …), or one of `NO_ANSWER`. */
  readonly reason: string
  /** The request and the answer, as a sentence. */
  readonly message: string
  /** The remedy, where one is known. */
  readonly advice?: string
  /** How long the API server asks to be left alone. */
  readonly retryAfterMs?: number
  /** The request hung: others that were sent later had been answered long before. Told by those who compare requests. */
  readonly isHang?: boolean
}

/** Reasons where no answer came. */
export const NO_ANSWER = { timeout: 'Timeout', unreachable: 'Unreachable', aborted: 'Aborted', unreadable: 'UnreadableAnswer' } as const

export type ApiAnswer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: ApiFailure }

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

/** A request in the words of RBAC rules. */
export interface Asked {
  readonly verb: Verb
  /** Qualified, with a subresource where there is one: `deployments.apps`, `logpipelines.logpipeline.dev/status`. */
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
}

/** The parts of a Kubernetes `Status` that matter. */
export interface StatusBody {
  readonly reason?: string
  readonly message?: string
  readonly code?: number
  readonly details?: { readonly retryAfterSeconds?: number }
}

const REASON_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** From an answer that is an error. `body` is its text, most often a `Status`. */
export function failureOf(status: number, body: string, asked: Asked, retryAfter?: string): ApiFailure {
  const parsed = parseStatus(body)
  const reason = parsed?.reason ?? REASON_OF_STATUS[status] ?? `Http${status}`
  const said = parsed?.message ?? (body.trim().slice(0, 200) || 'no message')
  const retryAfterMs = retryAfterOf(retryAfter, parsed)
  const advice = adviceFor(status, asked, said)
  return {
    status,
    reason,
    message: `cannot ${describeAsked(asked)}: ${said} (${status} ${reason})`,
    ...(advice !== undefined && { advice }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** From an `ERROR` event in a watch. */
export function failureOfStatus(status: StatusBody, asked: Asked): ApiFailure {
  return failureOf(status.code ?? 500, JSON.stringify({ kind: 'Status', ...status }), asked)
}

export function noAnswer(reason: (typeof NO_ANSWER)[keyof typeof NO_ANSWER], why: string, asked: Asked): ApiFailure {
  return { status: 0, reason, message: `cannot ${describeAsked(asked)}: ${why}` }
}

/** 410 by status or, in a stream, by either of its reasons. */
export function isExpired({ status, reason }: ApiFailure): boolean {
  return status === 410 || reason === 'Expired' || reason === 'Gone'
}

export function describeAsked({ verb, resource, namespace, name }: Asked): string {
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`
  return `${verb} ${resource}${name === undefined ? '' : ` ${name}`}${place}`
}

function parseStatus(body: string): StatusBody | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(body) as StatusBody & { kind?: string }
    return parsed.kind === 'Status' ? parsed : undefined
  } catch {
    return undefined
  }
}

function retryAfterOf(header: string | undefined, status: StatusBody | undefined): number | undefined {
  const seconds = header === undefined ? status?.details?.retryAfterSeconds : Number(header)
  return seconds === undefined || !Number.isFinite(seconds) || seconds < 0 ? undefined : seconds * 1000
}

function adviceFor(status: number, asked: Asked, said: string): string | undefined {
  if (status === 401) return 'the credentials are not accepted: check the service account token or the kubeconfig'
  const user = status === 403 ? /User "([^"]+)" cannot /.exec(said)?.[1] : undefined
  const refused = status === 403 ? /User "([^"]+)" cannot impersonate resource "([^"]+)" in API group "([^"]*)"/.exec(said) : null
  if (refused !== null)
    return `grant ${refused[1]} the RBAC rule {apiGroups: ["${refused[3]}"], resources: ["${refused[2]}"], verbs: ["impersonate"]} in all namespaces`
  // Quotas, admission and namespaces that are going say 403 as well.
  if (user !== undefined) return adviceForRbac(asked, user)
  if (status === 404 && asked.name === undefined)
    return `the API server does not know ${asked.resource}: install its custom resource definition`
  return undefined
}

function adviceForRbac({ verb, resource, namespace }: Asked, user: string): string {
  const [qualified, subresource] = resource.split('/') as [string, string?]
  const dot = qualified.indexOf('.')
  const plural = dot === -1 ? qualified : qualified.slice(0, dot)
  const group = dot === -1 ? '' : qualified.slice(dot + 1)
  const rule = `apiGroups: ["${group}"], resources: ["${plural}${subresource === undefined ? '' : `/${subresource}`}"], verbs: ["${verb}"]`
  return `grant ${user} the RBAC rule {${rule}}${namespace === undefined ? ' in all namespaces' : ` in namespace ${namespace}`}`
}
