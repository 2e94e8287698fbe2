/** Turns the bytes of a watch into events. */
import { type Asked, failureOfStatus, NO_ANSWER, noAnswer, type StatusBody } from './api-failure.ts'
import type { WatchEvent } from './kube-client.ts'
import type { KubernetesObject } from './object.ts'

/** Above the largest object that the API server stores (1.5 MB), also when JSON escapes all of it. */
const MAX_LINE_CHARS = 16 << 20

/** Ends after an `ERROR` event, or with the bytes. A last line that is cut off is an error; one that lacks only its line end is not. */
export async function* readWatchEvents(
  bytes: AsyncIterable<Uint8Array>,
  asked: Asked,
  complete: (object: KubernetesObject) => KubernetesObject,
): AsyncGenerator<WatchEvent> {
  for await (const line of readLines(bytes)) {
    const event =
      line === undefined ? unreadable(`a line of more than ${MAX_LINE_CHARS} characters`, asked) : parseEvent(line, asked, complete)
    yield event
    if (event.type === 'ERROR') return
  }
}

/** Lines that are not empty; `undefined`, as the last, for one that is too long. */
async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true })
    // Only the new text is searched, so that a long line in many pieces does not cost its square.
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = rest + text.slice(from, end)
      rest = ''
      from = end + 1
      if (line !== '') yield line
    }
    rest += text.slice(from)
    if (rest.length > MAX_LINE_CHARS) return yield undefined
  }
  if (rest !== '') yield rest
}

function parseEvent(line: string, asked: Asked, complete: (object: KubernetesObject) => KubernetesObject): WatchEvent {
  let event: { readonly type?: string; readonly object?: unknown }
  try {
    event = JSON.parse(line)
  } catch {
    return unreadable(`a line that is no JSON: ${line.slice(0, 80)}`, asked)
  }
  const { type, object } = event
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: complete(object as KubernetesObject) }
    case 'BOOKMARK':
      return { type, resourceVersion: (object as KubernetesObject).metadata.resourceVersion ?? '' }
    case 'ERROR':
      return { type, failure: failureOfStatus(object as StatusBody, asked) }
    default:
      return unreadable(`an event of type ${JSON.stringify(type)}`, asked)
  }
}

function unreadable(what: string, asked: Asked): WatchEvent {
  return { type: 'ERROR', failure: noAnswer(NO_ANSWER.unreadable, `the stream held ${what}`, asked) }
}
