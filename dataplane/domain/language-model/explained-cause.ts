import type { ModelUse, RootCause } from '../root-cause/root-cause.ts'
import type { Verdict } from './verdict.ts'

/** From here on the rules name a cause, below only what is most unusual. */
const CLEAR_SCORE = 1

export function isClear({ candidates }: RootCause): boolean {
  return (candidates[0]?.score ?? 0) >= CLEAR_SCORE
}

/** The words are the model's, candidates and their order stay those of the rules (Decisions 6). */
export function explainedCause(rules: RootCause, { summary, nextSteps }: Verdict, model: ModelUse): RootCause {
  const steps = nextSteps.map(step => step.replace(/[.;\s]+$/, ''))
  const next = steps.length === 0 ? '' : ` Next: ${steps.join('; ')}.`
  return { mode: 'llm', fallback: false, summary: `${summary}${next}`, candidates: rules.candidates, model }
}

/** A configured model could not be used. */
export function fallbackCause(rules: RootCause): RootCause {
  return { ...rules, mode: 'rules', fallback: true }
}
