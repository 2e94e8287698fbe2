/** One pass over the prepared input; gives the number of records it went through. */
export type Pass = () => number | Promise<number>

export interface Stage {
  readonly pass: Pass
  /** Process whose CPU time counts, when it is not this one. */
  readonly serverPid?: number
  readonly stop?: () => Promise<void>
}
