/** The cause of an incident as callers see it (Decisions 6). */

/**
 * `missing`: a log statement that stopped; `new`: one that was never there before; `rate`: one that comes at another rate; `errors`: a larger share of
 * errors; `silence`: a service that is reached or heard less; `calls`: a service that is reached more; `delay`: longer waits between records of a trace;
 * `change`: it, or another service, changed shortly before.
 */
export type ReasonKind = 'missing' | 'new' | 'rate' | 'errors' | 'silence' | 'calls' | 'delay' | 'change'

export interface Reason {
  readonly kind: ReasonKind
  /** One sentence for people. */
  readonly text: string
  /** The service whose records show it, where that is not the candidate: one that blames it. */
  readonly service?: string
  readonly patternId?: string
  /** How many requests, visits or records show it in the window. */
  readonly count?: number
  /** How many would by the baseline. */
  readonly expected?: number
  /** Samples from the window, at most 5. */
  readonly logIds: readonly string[]
  readonly traceIds: readonly string[]
}

export interface Candidate {
  readonly service: string
  /** Strength of its strongest evidence; 1 is what a fault-free window shows by chance. */
  readonly score: number
  /** Errors that the service writes itself before what is counted of it, then the strongest first; changes last. */
  readonly reasons: readonly Reason[]
}

export interface RootCause {
  readonly mode: 'rules' | 'llm'
  /** A configured model could not be used. */
  readonly fallback: boolean
  readonly summary: string
  /** The most likely first, at most 5. */
  readonly candidates: readonly Candidate[]
  /** The model whose words the summary has; absent where they are those of the rules. */
  readonly model?: ModelUse
}

/** The cost of a model's words. */
export interface ModelUse {
  readonly provider: string
  readonly name: string
  readonly promptVersion: string
  /** Tokens of all questions for one explanation; 0 where a similar incident was explained before. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly latencyMs: number
}
