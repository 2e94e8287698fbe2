/** OpenAI's `POST /chat/completions`, which most others speak, too. */
import { z } from 'zod'
import { systemText, type WireFormat, withoutThoughts } from './wire-format.ts'

const PART = z.object({ type: z.string().optional(), text: z.string().optional() })
const ANSWER = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.union([z.string(), z.array(PART)]).nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.number().optional(), completion_tokens: z.number().optional() }).nullish(),
})

export const CHAT_COMPLETIONS: WireFormat = {
  body(model, question, manners) {
    const { json, hasTemperature, limitName } = manners
    return {
      model,
      messages: [
        { role: 'system', content: systemText(question, manners) },
        { role: 'user', content: question.user },
      ],
      [limitName]: question.maxOutputTokens,
      ...(hasTemperature && { temperature: 0 }),
      ...(json === 'schema' && {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: question.schema } },
      }),
      ...(json === 'object' && { response_format: { type: 'json_object' } }),
    }
  },
  read(answer) {
    const { data } = ANSWER.safeParse(answer)
    if (data === undefined) return undefined
    const { message, finish_reason } = data.choices[0]!
    const { content } = message
    const text = typeof content === 'string' ? content : (content ?? []).map(part => part.text ?? '').join('')
    return {
      text: withoutThoughts(text),
      stopReason: message.refusal == null ? (finish_reason ?? 'no reason') : 'refusal',
      inputTokens: data.usage?.prompt_tokens,
      outputTokens: data.usage?.completion_tokens,
    }
  },
}
