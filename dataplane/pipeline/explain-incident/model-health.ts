/** How the model of a configuration does: its last result, and a breaker that spares it after failures. */
import { createHash } from 'node:crypto'
import { BrokenCircuitError, type CircuitBreakerPolicy, CircuitState, ConsecutiveBreaker, circuitBreaker, handleType } from 'cockatiel'
import { isRecent } from '../../limits/is-recent.ts'
import { type LanguageModel, type LlmConfig, ModelUnavailable } from '../../ports/language-model.ts'

/** Failures in a row after which the model is not asked any more. */
const MAX_FAILURES = 3
/** Pause after which one question tries whether the model is back. */
const OPEN_MS = 60_000
/** Configurations that are kept in mind. */
const MAX_CONFIGURATIONS = 1_000
/** A result that is older is looked at anew, by what costs nothing. */
const FRESH_MS = 10_000

/** `isLasting`: nothing but another configuration or a good answer ends it (a wrong key, a model that is not there, answers that are none). */
type Result = { readonly ok: true } | { readonly ok: false; readonly error: string; readonly isLasting: boolean }

interface Health {
  breaker: CircuitBreakerPolicy
  last?: { readonly result: Result; readonly atMs: number }
  /** The last question that failed. */
  failure?: { readonly result: Result; readonly atMs: number }
  /** The probe under way; further callers wait for it. */
  look?: Promise<void>
}

export interface ModelHealth {
  /** Rejects with `ModelUnavailable`, at once while the breaker is open. */
  use<T>(config: LlmConfig, work: () => Promise<T>): Promise<T>
  note(config: LlmConfig, result: Result): void
  /** The last result, or that of a free look where it is old. */
  current(config: LlmConfig): Promise<Result>
}

export interface ModelHealthDeps {
  readonly probe: (config: LlmConfig) => ReturnType<LanguageModel['probe']>
  readonly nowMs: () => number
  /** Default a minute. */
  readonly openMs?: number
}

export function createModelHealth({ probe, nowMs, openMs = OPEN_MS }: ModelHealthDeps): ModelHealth {
  const known = new Map<string, Health>()
  const healthOf = (config: LlmConfig): Health => {
    const key = keyOf(config)
    const health = known.get(key) ?? { breaker: createBreaker() }
    known.delete(key)
    known.set(key, health)
    if (known.size > MAX_CONFIGURATIONS) known.delete(known.keys().next().value!)
    return health
  }
  const createBreaker = () =>
    circuitBreaker(handleType(ModelUnavailable), { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(MAX_FAILURES) })
  const noteIn = (health: Health, result: Result) => {
    health.last = { result, atMs: nowMs() }
    return health.last
  }

  async function look(config: LlmConfig, health: Health): Promise<void> {
    try {
      await probe(config)
      // An answer to the probe shows that the provider is there; it takes no lasting refusal back.
      if (health.last?.result.ok === false && health.last.result.isLasting) return
      noteIn(health, { ok: true })
    } catch (error) {
      noteIn(health, failed(error))
    }
  }

  return {
    async use(config, work) {
      const health = healthOf(config)
      try {
        const answer = await health.breaker.execute(work)
        noteIn(health, { ok: true })
        return answer
      } catch (error) {
        if (error instanceof BrokenCircuitError)
          throw new ModelUnavailable(`not asked: the last ${MAX_FAILURES} questions failed`, { isPassing: true, cause: error })
        if (error instanceof ModelUnavailable) {
          health.failure = noteIn(health, failed(error))
        }
        throw error
      }
    },
    note(config, result) {
      const health = healthOf(config)
      noteIn(health, result)
      // A question by hand has shown that the model works again.
      if (result.ok) health.breaker = createBreaker()
    },
    async current(config) {
      const health = healthOf(config)
      const { breaker, failure } = health
      if (failure !== undefined && breaker.state === CircuitState.Open && isRecent(failure.atMs, openMs, nowMs())) return failure.result
      if (health.last === undefined || !isRecent(health.last.atMs, FRESH_MS, nowMs())) {
        health.look ??= look(config, health).finally(() => {
          delete health.look
        })
        await health.look
      }
      return health.last!.result
    },
  }
}

export function failed(error: unknown): Result {
  if (!(error instanceof ModelUnavailable)) throw error
  return { ok: false, error: error.message, isLasting: !error.isPassing }
}

function keyOf({ provider, baseUrl = '', model, apiKey = '' }: LlmConfig): string {
  return createHash('sha256')
    .update(JSON.stringify([provider, baseUrl, model, apiKey]))
    .digest('base64url')
}
