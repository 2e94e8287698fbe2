/** `GET` of a path of a pod; resolves to the body of an answer with any status. Rejects when the body is too long. */
export async function askPod(url: string, signal: AbortSignal, maxCharacters: number): Promise<string> {
  const answer = await fetch(url, { signal, redirect: 'error' })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxCharacters) throw new Error(`${url}: the answer is longer than ${maxCharacters} characters`)
  }
  return text
}

export function podUrl(address: string, port: number, path: string): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}${path}`
}
