import { type ApiAnswer, type Asked, NO_ANSWER, noAnswer } from './api-failure.ts'

/** An answer that ends in the middle is an answer that did not come. */
export function parseBody<T>(text: string, asked: Asked): ApiAnswer<T> {
  try {
    return { ok: true, value: JSON.parse(text) as T }
  } catch {
    return { ok: false, failure: noAnswer(NO_ANSWER.unreadable, `the answer is no JSON (${text.length} characters)`, asked) }
  }
}
