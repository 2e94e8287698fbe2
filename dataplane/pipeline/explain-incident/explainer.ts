/** Puts a language model's words to an incident whose cause the rules have found; never throws, bounded in time and number (Decisions 6). */
import { type BulkheadPolicy, BulkheadRejectedError, bulkhead } from 'cockatiel'
import { LLM_VERDICTS_COUNTER } from '../../contract/counters.ts'
import { parseLookback } from '../../domain/incidents/anomaly-config.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { explainedCause, fallbackCause } from '../../domain/language-model/explained-cause.ts'
import { buildPrompt, PROMPT_VERSION, type Prompt } from '../../domain/language-model/prompt.ts'
import type { ModelUse, RootCause } from '../../domain/root-cause/root-cause.ts'
import { jsonOf } from '../../json/json-of.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { type LanguageModel, type LlmConfig, ModelUnavailable } from '../../ports/language-model.ts'
import type { ModelStatus } from '../../ports/model-probe.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { TicketingConfig } from '../../ports/ticketing-config.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { within } from '../within.ts'
import { createAskForVerdict, type TimedAnswer } from './ask-for-verdict.ts'
import { readLines, readSimilar } from './material.ts'
import { createModelHealth, failed } from './model-health.ts'
import { NoVerdict, type Outcome } from './no-verdict.ts'
import { createTokenBudget } from './token-budget.ts'
import { createVerdictCache, verdictKey } from './verdict-cache.ts'

/** From the wish to the words, with waiting, reading, asking and one repair. */
const EXPLAIN_MS = 30_000
const TEST_MS = 10_000
const PROBE_MS = 5_000
/** Incidents that are explained at once, and that wait for it. */
const MAX_RUNNING = 4
const MAX_WAITING = 200
const TEST_OUTPUT_TOKENS = 1_000

export interface ExplainRequest {
  readonly incident: Incident
  /** A verdict counts for incidents like it as long as the look-back window is. */
  readonly config: Pick<TicketingConfig, 'llm' | 'anomaly'>
}

export type ModelTest = { readonly ok: true; readonly message: string } | { readonly ok: false; readonly message: string }

export interface Explainer {
  /**
   * The root cause in a model's words, or the rules' own with `fallback`; undefined where no model is configured, the rules named no candidate, or a
   * model has spoken already. `incident.rootCause` is what the rules found. Never rejects; at most 30 s.
   */
  explain(request: ExplainRequest): Promise<{ readonly rootCause: RootCause } | undefined>
  /** Asks the model for one tiny answer. Never rejects; at most 10 s. */
  test(config: LlmConfig): Promise<ModelTest>
  /** By the last question, or, where that is long ago, by what costs nothing. Never rejects; at most 5 s. */
  status(tenant: string, config: LlmConfig): Promise<ModelStatus>
}

export interface ExplainerDeps {
  readonly model: LanguageModel
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'labelledCounter'>
  /** Tokens that each tenant may use. */
  readonly tokensPerHour: number
}

/** A model that gives no answer in time. */
const unavailable = (message: string): never => {
  throw new ModelUnavailable(message, { isPassing: true })
}

const TEST_QUESTION = {
  system: 'You are asked whether you can be reached. Answer with JSON alone.',
  user: 'Answer with the JSON object {"ok": true}.',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false },
  maxOutputTokens: TEST_OUTPUT_TOKENS,
}

export function createExplainer(deps: ExplainerDeps): Explainer {
  const { model, store, clock, log, metrics, tokensPerHour } = deps
  const countVerdict = metrics.labelledCounter(LLM_VERDICTS_COUNTER, ['outcome'])
  const budget = createTokenBudget(tokensPerHour)
  const cache = createVerdictCache()
  const turns: BulkheadPolicy = bulkhead(MAX_RUNNING, MAX_WAITING)
  const health = createModelHealth({
    probe: config => within(clock, PROBE_MS, signal => model.probe(config, signal), unavailable),
    nowMs: () => clock.nowMs(),
  })
  const askForVerdict = createAskForVerdict({ model, health, budget, tokensPerHour, clock, log, metrics })

  /** The verdict that is kept, or that of the model; rejects with `NoVerdict` or `ModelUnavailable`. */
  async function findVerdict({ incident, config: { llm: config, anomaly } }: ExplainRequest, rules: RootCause, signal: AbortSignal) {
    const lookbackMs = parseLookback(anomaly.lookbackWindow) ?? 0
    const key = verdictKey(incident, rules, config)
    const known = () => cache.get(key, lookbackMs, clock.nowMs())
    const earlier = known()
    if (earlier !== undefined) return { verdict: earlier, use: useOf(config, []), outcome: 'cached' as const }
    return turns.execute(async () => {
      // While the question waited for its turn, one like it may have been explained, or its caller may have given up.
      const meanwhile = known()
      if (meanwhile !== undefined) return { verdict: meanwhile, use: useOf(config, []), outcome: 'cached' as const }
      if (signal.aborted) throw new ModelUnavailable('no turn came in time', { isPassing: true })
      const prompt = await preparePrompt(incident, rules)
      const answers: TimedAnswer[] = []
      const verdict = await askForVerdict({ incident, config, prompt, rules, signal, answers })
      cache.put(key, verdict, clock.nowMs())
      return { verdict, use: useOf(config, answers), outcome: 'explained' as const }
    })
  }

  async function preparePrompt(incident: Incident, rules: RootCause): Promise<Prompt> {
    const optional = <T>(reading: Promise<readonly T[]>) =>
      reading.catch(error => {
        log.debug({ incident: incident.id, error: String(error) }, 'a model is asked without lines or incidents of the past')
        return []
      })
    const [lines, similar] = await Promise.all([optional(readLines(store, incident, rules)), optional(readSimilar(store, incident, rules))])
    const prompt = buildPrompt({ incident, rules, lines, similar })
    if (prompt === undefined) throw new NoVerdict('unexplainable', 'the name of the first candidate is no plain name')
    return prompt
  }

  return {
    async explain(request) {
      const { incident } = request
      const config = request.config.llm
      const rules = incident.rootCause
      if (config.provider === 'none' || rules === undefined || rules.mode === 'llm' || rules.candidates.length === 0) return undefined
      try {
        const { verdict, use, outcome } = await within(clock, EXPLAIN_MS, signal => findVerdict(request, rules, signal), unavailable)
        countVerdict([outcome], 1)
        return { rootCause: explainedCause(rules, verdict, use) }
      } catch (error) {
        const outcome = outcomeOf(error)
        countVerdict([outcome], 1)
        const told = { incident: incident.id, provider: config.provider, model: config.model, outcome, reason: messageOf(error) }
        log.warn(told, 'the rules explain an incident alone, since the model could not be used')
        return { rootCause: fallbackCause(rules) }
      }
    },
    async test(config) {
      if (config.provider === 'none') return { ok: false, message: NOT_CONFIGURED }
      const startMs = monotonicMs(clock)
      try {
        const { text } = await within(clock, TEST_MS, signal => model.ask(config, TEST_QUESTION, signal), unavailable)
        health.note(config, { ok: true })
        const seconds = ((monotonicMs(clock) - startMs) / 1_000).toFixed(1)
        const manner = jsonOf(text) !== undefined ? '' : ', but not in JSON as it was asked to'
        return { ok: true, message: `${config.model} answered within ${seconds} s${manner}` }
      } catch (error) {
        if (error instanceof ModelUnavailable) health.note(config, failed(error))
        return { ok: false, message: messageOf(error) }
      }
    },
    async status(tenant, config) {
      if (config.provider === 'none') return { available: false, error: NOT_CONFIGURED }
      if (budget.isUsedUp(tenant, clock.nowMs())) return { available: false, error: `the ${tokensPerHour} tokens of this hour are used up` }
      const result = await health.current(config)
      return result.ok ? { available: true } : { available: false, error: result.error }
    },
  }
}

const NOT_CONFIGURED = 'no provider configured'

function useOf({ provider, model }: LlmConfig, answers: readonly TimedAnswer[]): ModelUse {
  const sum = (name: keyof TimedAnswer) => answers.reduce((total, answer) => total + answer[name], 0)
  const spent = { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), latencyMs: sum('latencyMs') }
  return { provider, name: model, promptVersion: PROMPT_VERSION, ...spent }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof NoVerdict) return error.outcome
  if (error instanceof ModelUnavailable) return 'unavailable'
  return error instanceof BulkheadRejectedError ? 'busy' : 'failed'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
