import type { ModelQuestion } from '../../ports/language-model.ts'

export type LimitName = 'max_tokens' | 'max_completion_tokens'

/** Wishes to a model beyond an answer; some models refuse some of them with 400. */
export interface Manners {
  /** How the answer is held to JSON: by schema, as any JSON, by words alone. */
  readonly json: 'schema' | 'object' | 'words'
  readonly hasTemperature: boolean
  readonly limitName: LimitName
  /** As servers are asked that do not know the first address. */
  readonly isOtherwise: boolean
}

export interface WireAnswer {
  readonly text: string
  /** Why there is no text, in the provider's words. */
  readonly stopReason: string
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/** One of the two ways in which models are asked over HTTP. */
export interface WireFormat {
  body(model: string, question: ModelQuestion, manners: Manners): object
  /** Reads the parsed body of a 200; undefined where it is not of this format. */
  read(answer: unknown): WireAnswer | undefined
}

/** The text of a model that thinks aloud first. */
export function withoutThoughts(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>/, '').trim()
}

/** The instructions, with the schema where nothing else holds the answer to it. */
export function systemText({ system, schema }: ModelQuestion, { json }: Manners): string {
  return json === 'schema' ? system : `${system}\n\nThe answer is one JSON object that fits this JSON schema:\n${JSON.stringify(schema)}`
}
