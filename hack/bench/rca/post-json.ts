/** Posts JSON until a server takes it: a busy one asks for patience, and closes a connection in the moment in which it is used again. */

/** Attempts in a row that get no answer. */
const MAX_UNANSWERED = 8

/** The text of the answer. Throws an error that tells the status, or why there was no answer. */
export async function postJson(
  url: string,
  body: string,
  { headers = {}, waitMs = 500 }: { readonly headers?: Readonly<Record<string, string>>; readonly waitMs?: number } = {},
): Promise<string> {
  for (let unanswered = 0; ; ) {
    try {
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
      const text = await response.text()
      if (response.ok) return text
      if (response.status !== 429 && response.status !== 503) throw new Refused(`${url} answered ${response.status}: ${text}`)
      unanswered = 0
    } catch (error) {
      if (error instanceof Refused) throw error
      const { cause = error } = error as Error
      if (++unanswered === MAX_UNANSWERED)
        throw new Error(`${url} did not answer ${unanswered} times: ${(cause as Error).message || (cause as { code?: string }).code}`, {
          cause,
        })
    }
    await new Promise(resolve => setTimeout(resolve, waitMs))
  }
}

class Refused extends Error {}
