/** The problem of a request, in words for the person in front of the console: the event, and the next step. */
import { visibleText } from '../components/text/visible-text.ts'

export interface Problem {
  readonly message: string
  /** Undefined: there was no answer. */
  readonly status: number | undefined
  readonly whatToDo: string
}

export class RequestProblem extends Error implements Problem {
  readonly status: number | undefined
  readonly whatToDo: string
  constructor({ message, status, whatToDo }: Problem, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RequestProblem'
    this.status = status
    this.whatToDo = whatToDo
  }
}

export type Failure =
  | { readonly kind: 'status'; readonly status: number; readonly error: string }
  /** `isChange`: the request was to change something, and may have done so. */
  | { readonly kind: 'network' | 'timeout' | 'unreadable'; readonly isChange?: boolean }

const SERVICES: readonly (readonly [string, string])[] = [
  ['/api/search', 'search store'],
  ['/api/ticketing', 'ticketing agent'],
  ['/api/bridge', 'bridge'],
  ['/api/agent', 'infrastructure agent'],
  ['/api/airflow', 'scheduler'],
  ['/api/features', 'feature store'],
  ['/api/otel', 'collector'],
  ['/api/upload', 'collector'],
  // Where the keys are kept.
  ['/api/admin/api-keys', 'search store'],
]

const ADVICE: Readonly<Record<number, string>> = {
  400: 'Correct what the message names, and try again.',
  401: 'Log in again, in another tab if something here is not saved yet.',
  403: 'Choose another tenant, or open the console under its own address.',
  404: 'It may have been deleted meanwhile: reload the list.',
  408: 'Choose a shorter time range or a narrower search.',
  409: 'Somebody else was faster: reload to see how it stands now.',
  413: 'Send it in smaller pieces.',
  429: 'Wait a moment, then try again.',
}

export function serviceOf(path: string): string {
  return SERVICES.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'dashboard'
}

export function describeFailure(path: string, failure: Failure): Problem {
  const service = serviceOf(path)
  switch (failure.kind) {
    case 'network':
      return {
        message: 'The dashboard does not answer.',
        status: undefined,
        whatToDo: `Check that logpipeline runs and that this machine reaches it, then ${failure.isChange ? LOOK_FIRST : 'try again'}.`,
      }
    case 'timeout':
      return {
        message: `The ${service} did not answer in time.`,
        status: undefined,
        whatToDo: adviceForTimeout(path, service, failure.isChange),
      }
    case 'unreadable':
      return {
        message: `The ${service} gave an answer that the console cannot read.`,
        status: undefined,
        whatToDo: 'Reload the page: the console may be older than the server.',
      }
    case 'status':
      return {
        message: sentence(failure.error || `The ${service} answers ${failure.status}`),
        status: failure.status,
        whatToDo: adviceFor(failure.status, service),
      }
  }
}

const LOOK_FIRST = 'reload and look before you try again: it may have been done all the same'

function adviceForTimeout(path: string, service: string, isChange = false): string {
  if (isChange) return `See on Health whether the ${service} runs, then ${LOOK_FIRST}.`
  if (path.startsWith('/api/search')) return 'Choose a shorter time range or a narrower search, or try again.'
  return `See on Health whether the ${service} runs; try again once it does.`
}

function adviceFor(status: number, service: string): string {
  const known = ADVICE[status]
  if (known !== undefined) return known
  if (isAway(status)) return `See on Health whether the ${service} runs; try again once it does.`
  return 'Try again; if it stays, look into the logs of logpipeline itself.'
}

/** The service behind the dashboard does not answer, or says that it cannot at present. */
export function isAway(status: number | undefined): boolean {
  return status === 502 || status === 503 || status === 504
}

/** The answer belongs to another tenant than the one that the console looks at. */
export function isOtherTenants(status: number | undefined): boolean {
  return status === 403
}

/** Answers quote what was sent: characters in them that are not seen have their names. */
function sentence(text: string): string {
  const trimmed = visibleText(text.trim())
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}

/** The error that a body carries: the product's `{ error: string }`, or OpenSearch's `{ error: { reason } }`. */
export function errorOfBody(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('error' in body)) return ''
  const { error } = body
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  const { root_cause: causes, reason } = error as { root_cause?: readonly { reason?: unknown }[]; reason?: unknown }
  const first = causes?.[0]?.reason ?? reason
  return typeof first === 'string' ? first : ''
}

/** The session has ended. */
export function needsLogin(status: number | undefined): boolean {
  return status === 401
}

/** Whatever was thrown, as a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestProblem) return error
  const message = error instanceof Error ? error.message : String(error)
  return {
    message: sentence(message || 'Something went wrong'),
    status: undefined,
    whatToDo: 'Reload the page; if it stays, report it with what you did.',
  }
}
