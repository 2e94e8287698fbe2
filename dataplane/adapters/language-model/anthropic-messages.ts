/** Anthropic's `POST /v1/messages`. */
import { z } from 'zod'
import { systemText, type WireFormat } from './wire-format.ts'

const ANSWER = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullish(),
  usage: z
    .object({
      input_tokens: z.number().optional(),
      cache_creation_input_tokens: z.number().nullish(),
      cache_read_input_tokens: z.number().nullish(),
      output_tokens: z.number().optional(),
    })
    .nullish(),
})

export const ANTHROPIC_MESSAGES: WireFormat = {
  body(model, question, manners) {
    return {
      model,
      system: systemText(question, manners),
      messages: [{ role: 'user', content: question.user }],
      max_tokens: question.maxOutputTokens,
      ...(manners.hasTemperature && { temperature: 0 }),
      ...(manners.json === 'schema' && { output_config: { format: { type: 'json_schema', schema: question.schema } } }),
    }
  },
  read(answer) {
    const { data } = ANSWER.safeParse(answer)
    if (data === undefined) return undefined
    const { usage } = data
    const cached = (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0)
    return {
      text: data.content
        .map(block => (block.type === 'text' ? (block.text ?? '') : ''))
        .join('')
        .trim(),
      stopReason: data.stop_reason ?? 'no reason',
      inputTokens: usage?.input_tokens === undefined ? undefined : usage.input_tokens + cached,
      outputTokens: usage?.output_tokens,
    }
  },
}
