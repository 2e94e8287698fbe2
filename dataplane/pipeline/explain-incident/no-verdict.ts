/** The ways in which the wish for a model's words ends, as `LLM_VERDICTS_COUNTER` counts them. */
export type Outcome = 'explained' | 'cached' | 'disagreed' | 'unfit' | 'unavailable' | 'over_budget' | 'busy' | 'unexplainable' | 'failed'

/** Why there are no words of a model. */
export class NoVerdict extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome, message: string) {
    super(message)
    this.outcome = outcome
  }
}
