/** An answer other than success, in the shape OpenSearch gives it. Errors of HTTP itself are plain `HttpError`, as OpenSearch has them. */
import { HttpError } from '../http/http-error.ts'
import { textOf } from './json/text-of.ts'

export interface ApiErrorOptions {
  /** Further members of the error object, e.g. `index`. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly rootCause?: readonly Readonly<Record<string, unknown>>[]
  readonly causedBy?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** OpenSearch finds it on the shards of a search: each of them fails. */
  readonly ofShards?: true
}

/** Thrown where a request is refused. */
export class ApiError extends HttpError {
  readonly type: string
  readonly options: ApiErrorOptions

  constructor(status: number, type: string, reason: string, options: ApiErrorOptions = {}) {
    super(status, reason, options.headers)
    this.name = 'ApiError'
    this.type = type
    this.options = options
  }

  /** The error object without its root cause, as bulk items and shard failures carry it. */
  toCause(): Record<string, unknown> {
    return {
      type: this.type,
      reason: this.message,
      ...this.options.details,
      ...(this.options.causedBy && { caused_by: this.options.causedBy }),
    }
  }

  override toBody(): Record<string, unknown> {
    const cause = this.toCause()
    return { error: { root_cause: this.options.rootCause ?? [cause], ...cause }, status: this.status }
  }
}

/** The request's JSON does not have the form that the named part of the API asks for. */
export const parsingError = (reason: string): ApiError => new ApiError(400, 'parsing_exception', reason)

/** An object of JSON has a name twice. */
export const duplicateField = (name: string): ApiError => new ApiError(400, 'json_parse_exception', `Duplicate field '${name}'`)

/** An argument that shards refuse, not the node that parses the search. */
export const refusedByShards = (reason: string): ApiError => new ApiError(400, 'illegal_argument_exception', reason, { ofShards: true })

/** The name of a query or an aggregation that there is not. */
export const unknownName = (reason: string): ApiError =>
  new ApiError(400, 'parsing_exception', reason, { causedBy: { type: 'named_object_not_found_exception', reason } })

export const illegalArgument = (reason: string): ApiError => new ApiError(400, 'illegal_argument_exception', reason)

/** For a part of OpenSearch that this store does not have; `what` names it, e.g. `query [fuzzy]`. */
export const unsupported = (what: string): ApiError => illegalArgument(`${what} is not supported by the embedded search store`)

export const validationError = (...reasons: readonly string[]): ApiError =>
  new ApiError(
    400,
    'action_request_validation_exception',
    `Validation Failed: ${reasons.map((reason, at) => `${at + 1}: ${reason};`).join('')}`,
  )

/** Refused for now: the same request may be taken in a second. */
export const tryLater = (type: string, reason: string, details?: ApiErrorOptions['details']): ApiError =>
  new ApiError(429, type, reason, { headers: { 'retry-after': '1' }, ...(details && { details }) })

/** A query that an index cannot run, e.g. text where the field holds numbers. */
export const queryShardError = (reason: string): ApiError => new ApiError(400, 'query_shard_exception', reason)

/** A value that does not fit the field of its query. */
export const failedToCreate = (type: string, reason: string): ApiError =>
  new ApiError(400, 'query_shard_exception', `failed to create query: ${reason}`, { causedBy: { type, reason } })

export const notANumber = (value: unknown): ApiError => failedToCreate('number_format_exception', `For input string: "${textOf(value)}"`)

export const notABoolean = (value: unknown): ApiError =>
  failedToCreate('illegal_argument_exception', `Can't parse boolean value [${textOf(value)}], expected [true] or [false]`)

export function indexNotFound(name: string, resourceType: 'index_or_alias' | 'index_expression' = 'index_or_alias'): ApiError {
  return new ApiError(404, 'index_not_found_exception', `no such index [${name}]`, {
    details: { index: name, 'resource.id': name, 'resource.type': resourceType, index_uuid: '_na_' },
  })
}

/** For a closed index: nothing is read from it or written to it until it is opened again. */
export const indexClosed = (name: string): ApiError => new ApiError(400, 'index_closed_exception', 'closed', { details: { index: name } })
