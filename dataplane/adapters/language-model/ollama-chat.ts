/** Ollama's own `POST /api/chat`: in its OpenAI format the window is the server's. */
import { z } from 'zod'
import { CHAT_COMPLETIONS } from './chat-completions.ts'
import { systemText, type WireFormat, withoutThoughts } from './wire-format.ts'

/** A question and its answer fit; what is beyond Ollama's own 4,096 it cuts off without a word. */
const WINDOW_TOKENS = 16_384

const ANSWER = z.object({
  message: z.object({ content: z.string() }),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().optional(),
  eval_count: z.number().optional(),
})

export const OLLAMA_CHAT: WireFormat = {
  body(model, question, manners) {
    const { json, hasTemperature } = manners
    return {
      model,
      messages: [
        { role: 'system', content: systemText(question, manners) },
        { role: 'user', content: question.user },
      ],
      stream: false,
      // Thoughts would use up the time and the limit of the answer.
      think: false,
      options: { num_ctx: WINDOW_TOKENS, num_predict: question.maxOutputTokens, ...(hasTemperature && { temperature: 0 }) },
      ...(json === 'schema' && { format: question.schema }),
      ...(json === 'object' && { format: 'json' }),
    }
  },
  read(answer) {
    const { data } = ANSWER.safeParse(answer)
    // Some gateways answer each question in OpenAI's format.
    if (data === undefined) return CHAT_COMPLETIONS.read(answer)
    return {
      text: withoutThoughts(data.message.content),
      stopReason: data.done_reason ?? 'no reason',
      inputTokens: data.prompt_eval_count,
      outputTokens: data.eval_count,
    }
  },
}
