/** Language models over plain HTTP, in two wire formats (README of this folder). */
import { maskPrivate } from '../../domain/language-model/mask-private.ts'
import { plainText } from '../../domain/language-model/plain-text.ts'
import { jsonOf } from '../../json/json-of.ts'
import { retryAfterMs } from '../../limits/retry-after.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { LanguageModel, LlmConfig, ModelAnswer, ModelQuestion } from '../../ports/language-model.ts'
import { ModelUnavailable } from '../../ports/language-model.ts'
import {
  type OutboundAnswer,
  type OutboundHttp,
  type OutboundRequest,
  TargetRefused,
  TargetUnreachable,
} from '../../ports/outbound-http.ts'
import { endpointOf } from './endpoint.ts'
import { createKnownManners, withoutRefused } from './manners.ts'
import type { WireFormat } from './wire-format.ts'

/** From the question to the answer, with all that is tried between. */
const TOTAL_MS = 30_000
const PROBE_MS = 5_000
/** Before the second try, where the provider does not say. */
const PAUSE_MS = 500
const MAX_ANSWER_BYTES = 262_144
/** A model is asked without what it refuses, so often. */
const MAX_REFUSALS = 4
const MAX_REASON_LENGTH = 300
/** Where a provider does not count. */
const CHARACTERS_A_TOKEN = 4

export interface LanguageModelDeps {
  readonly outbound: OutboundHttp
  readonly clock: Clock
}

export function createLanguageModel({ outbound, clock }: LanguageModelDeps): LanguageModel {
  const manners = createKnownManners()

  async function send(config: LlmConfig, request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    if (signal.aborted) throw gaveUp(config)
    try {
      return await outbound.request({ ...request, maxAnswerBytes: MAX_ANSWER_BYTES }, signal)
    } catch (error) {
      if (signal.aborted) throw gaveUp(config)
      // Our own words name the host that was configured; anybody else's may hold more.
      const isOurs = error instanceof TargetRefused || error instanceof TargetUnreachable
      const reason = isOurs ? error.message : withoutKey(messageOf(error), config)
      throw new ModelUnavailable(`${config.provider} cannot be reached: ${reason}`, {
        isPassing: !(error instanceof TargetRefused),
        cause: error,
      })
    }
  }

  /** Once more after 429, 5xx and no answer, where the time is enough. */
  async function sendTwice(config: LlmConfig, request: Omit<OutboundRequest, 'timeoutMs'>, endMs: number, signal: AbortSignal) {
    const attempt = async () => {
      const answer = await send(config, { ...request, timeoutMs: Math.max(1, endMs - monotonicMs(clock)) }, signal)
      if (answer.status === 429 || answer.status >= 500) throw failure(config, answer, clock.nowMs())
      return answer
    }
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ModelUnavailable) || !error.isPassing) throw error
      const pauseMs = error.afterMs ?? PAUSE_MS
      if (signal.aborted || monotonicMs(clock) + pauseMs >= endMs) throw error
      await clock.sleep(pauseMs, signal)
      return await attempt()
    }
  }

  return {
    async ask(config, question, signal) {
      const endMs = monotonicMs(clock) + TOTAL_MS
      const endpoint = endpointOf(config)
      let asked = manners.of(config, endpoint.limitName)
      for (let refusals = 0; ; refusals++) {
        const { url, format } = asked.isOtherwise ? (endpoint.otherwise ?? endpoint) : endpoint
        const body = format.body(config.model, question, asked)
        const answer = await sendTwice(config, { method: 'POST', url, headers: endpoint.headers, body }, endMs, signal)
        if (isSuccess(answer)) {
          if (refusals > 0) manners.learn(config, asked)
          return readAnswer(config, format, question, answer)
        }
        const isRefused = (answer.status === 400 || answer.status === 422) && refusals < MAX_REFUSALS
        const isElsewhere = endpoint.otherwise !== undefined && !asked.isOtherwise && isUnknownPath(answer)
        const next = isElsewhere ? { ...asked, isOtherwise: true } : isRefused ? withoutRefused(asked, answer.text) : undefined
        if (next === undefined) throw failure(config, answer, clock.nowMs())
        asked = next
      }
    },
    async probe(config, signal) {
      const { probeUrl, headers } = endpointOf(config)
      const answer = await send(config, { method: 'GET', url: probeUrl, headers, timeoutMs: PROBE_MS }, signal)
      // Servers without a list of models answer 404 and the like: they are there.
      if (answer.status >= 500 || [401, 403, 429].includes(answer.status)) throw failure(config, answer, clock.nowMs())
      if (isSuccess(answer) && isWebPage(answer)) throw notAModel(config, 'a web page: check baseUrl')
    },
  }
}

function isSuccess({ status }: OutboundAnswer): boolean {
  return status >= 200 && status < 300
}

/** Not of a model that is not there. */
function isUnknownPath({ status, text }: OutboundAnswer): boolean {
  return (status === 404 || status === 405) && !/\bmodel\b/i.test(text)
}

function readAnswer(config: LlmConfig, format: WireFormat, question: ModelQuestion, { text, isCut }: OutboundAnswer): ModelAnswer {
  const answer = isCut ? undefined : format.read(jsonOf(text))
  if (answer === undefined) {
    const seen = isCut ? `more than ${MAX_ANSWER_BYTES} bytes` : JSON.stringify(plainText(text.slice(0, 80)))
    throw notAModel(config, withoutKey(seen, config))
  }
  const { text: said, stopReason, inputTokens, outputTokens } = answer
  if (said === '')
    throw new ModelUnavailable(`${config.model} answered without text (${withoutKey(stopReason, config)})`, { isPassing: false })
  return {
    text: said,
    inputTokens: inputTokens ?? Math.ceil((question.system.length + question.user.length) / CHARACTERS_A_TOKEN),
    outputTokens: outputTokens ?? Math.ceil(said.length / CHARACTERS_A_TOKEN),
  }
}

/** As a proxy's login or the start page of another server has it. */
function isWebPage({ text }: OutboundAnswer): boolean {
  return text.trimStart().startsWith('<')
}

function notAModel({ provider }: LlmConfig, seen: string): ModelUnavailable {
  return new ModelUnavailable(`${provider} answered with something else than an answer of a model: ${seen}`, { isPassing: false })
}

function failure(config: LlmConfig, { status, headers, text }: OutboundAnswer, nowMs: number): ModelUnavailable {
  const reason = reasonOf(jsonOf(text)) ?? ''
  const afterMs = retryAfterMs(headers['retry-after'], nowMs)
  return new ModelUnavailable(`${config.provider} answered ${status}${reason === '' ? '' : `: ${withoutKey(reason, config)}`}`, {
    isPassing: status === 429 || status === 408 || status >= 500,
    ...(afterMs !== undefined && { afterMs }),
  })
}

/** `{ error: { message } }` of all providers, or `{ error: text }`, `{ message }`, `{ detail }` of servers like them. */
function reasonOf(answer: unknown): string | undefined {
  const { error, message, detail } = Object(answer) as Record<string, unknown>
  return [(Object(error) as Record<string, unknown>)['message'], error, message, detail].find(value => typeof value === 'string')
}

/** One line, bounded; the key and all that looks like a secret masked: providers repeat parts of keys. */
function withoutKey(text: string, { apiKey }: LlmConfig): string {
  const bare = apiKey === undefined || apiKey === '' ? text : text.replaceAll(apiKey, '****')
  return maskPrivate(plainText(bare.slice(0, 4 * MAX_REASON_LENGTH))).slice(0, MAX_REASON_LENGTH)
}

function gaveUp({ provider }: LlmConfig): ModelUnavailable {
  return new ModelUnavailable(`${provider} did not answer in time`, { isPassing: true })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
