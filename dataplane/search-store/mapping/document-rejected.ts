/** A reason beneath a refusal, such as what is wrong with the value that a field does not hold. */
export interface RejectionCause {
  readonly type: string
  readonly reason: string
}

/** A document that the index refuses; named as OpenSearch names it, always status 400. */
export class DocumentRejected extends Error {
  readonly type: 'mapper_parsing_exception' | 'illegal_argument_exception' | 'strict_dynamic_mapping_exception'
  readonly causedBy: RejectionCause | undefined

  constructor(
    reason: string,
    type: DocumentRejected['type'] = 'mapper_parsing_exception',
    options?: ErrorOptions & { readonly causedBy?: RejectionCause },
  ) {
    const { stackTraceLimit } = Error
    // Senders can cause thousands a second, and nobody reads their stack traces.
    Error.stackTraceLimit = 0
    super(reason, options)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'DocumentRejected'
    this.type = type
    this.causedBy = options?.causedBy
  }
}
