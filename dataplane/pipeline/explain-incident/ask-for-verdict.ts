/** Questions to a model for its verdict on one incident: within the tenant's budget and the breaker, and once more where the answer cannot be used. */
import { LLM_SECONDS_COUNTER, LLM_TOKENS_COUNTER } from '../../contract/counters.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { isClear } from '../../domain/language-model/explained-cause.ts'
import { PROMPT_VERSION, type Prompt } from '../../domain/language-model/prompt.ts'
import { judge, type Verdict } from '../../domain/language-model/verdict.ts'
import type { ModelUse, RootCause } from '../../domain/root-cause/root-cause.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { LanguageModel, LlmConfig, ModelAnswer } from '../../ports/language-model.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { ModelHealth } from './model-health.ts'
import { NoVerdict } from './no-verdict.ts'
import type { TokenBudget } from './token-budget.ts'

export interface AskRequest {
  readonly incident: Incident
  readonly config: LlmConfig
  readonly prompt: Prompt
  readonly rules: RootCause
  readonly signal: AbortSignal
  /** Takes in the answers that come, for the incident to tell. */
  readonly answers: TimedAnswer[]
}

export type TimedAnswer = Pick<ModelUse, 'inputTokens' | 'outputTokens' | 'latencyMs'>

export interface AskForVerdictDeps {
  readonly model: LanguageModel
  readonly health: ModelHealth
  readonly budget: TokenBudget
  readonly tokensPerHour: number
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'labelledCounter'>
}

const MAX_PROBLEM_LENGTH = 500

/** The function resolves to the verdict, and rejects with `NoVerdict` or `ModelUnavailable`. */
export function createAskForVerdict(deps: AskForVerdictDeps): (request: AskRequest) => Promise<Verdict> {
  const { model, health, budget, tokensPerHour, clock, log, metrics } = deps
  const countTokens = metrics.labelledCounter(LLM_TOKENS_COUNTER, ['direction'])
  const countSeconds = metrics.labelledCounter(LLM_SECONDS_COUNTER, [])

  /** One question, within budget and breaker. */
  async function ask({ incident, config, prompt, signal, answers }: AskRequest, user: string): Promise<ModelAnswer> {
    const { tenantId } = incident
    const expected = prompt.inputTokens + prompt.maxOutputTokens
    if (!budget.take(tenantId, expected, clock.nowMs()))
      throw new NoVerdict('over_budget', `the tenant's ${tokensPerHour} tokens of this hour do not suffice for another question`)
    const startMs = monotonicMs(clock)
    let used = 0
    try {
      const { system, schema, maxOutputTokens } = prompt
      const answer = await health.use(config, () => model.ask(config, { system, user, schema, maxOutputTokens }, signal))
      const { inputTokens, outputTokens } = answer
      used = inputTokens + outputTokens
      countTokens(['input'], inputTokens)
      countTokens(['output'], outputTokens)
      const latencyMs = Math.round(monotonicMs(clock) - startMs)
      const { provider, model: name } = config
      log.info(
        { incident: incident.id, provider, model: name, promptVersion: PROMPT_VERSION, inputTokens, outputTokens, latencyMs },
        'a model was asked about an incident',
      )
      answers.push({ inputTokens, outputTokens, latencyMs })
      return answer
    } finally {
      countSeconds([], (monotonicMs(clock) - startMs) / 1_000)
      budget.settle(tenantId, expected, used, clock.nowMs())
    }
  }

  return async request => {
    const { incident, config, prompt, rules } = request
    const asked = { ...prompt, isClear: isClear(rules) }
    const first = judge((await ask(request, prompt.user)).text, asked)
    const judged = first.kind === 'unfit' ? judge((await ask(request, `${prompt.user}\n\n${repair(first.problem)}`)).text, asked) : first
    if (judged.kind === 'fits') return judged.verdict
    if (judged.kind === 'disagrees') {
      log.info(
        { incident: incident.id, model: config.model, service: judged.service },
        'a model does not bear out the rules; its words are not used',
      )
      throw new NoVerdict('disagreed', `the model names ${judged.service}`)
    }
    health.note(config, { ok: false, error: `the last answer could not be used: ${judged.problem}`, isLasting: true })
    throw new NoVerdict('unfit', judged.problem)
  }
}

function repair(problem: string): string {
  return `An answer before this one was not accepted. Its problem, as JSON: ${JSON.stringify(problem.slice(0, MAX_PROBLEM_LENGTH))}. Answer anew, with all fields.`
}
