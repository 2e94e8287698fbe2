/** An outbound HTTP whose answers are written down beforehand, in the order of the requests. */
import { type OutboundAnswer, type OutboundHttp, type OutboundRequest, TargetUnreachable } from '../../../ports/outbound-http.ts'

export type ScriptedAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | Error

export interface ScriptedOutbound extends OutboundHttp {
  /** As `POST https://…`, in their order. */
  readonly calls: readonly string[]
  readonly requests: readonly OutboundRequest[]
}

export const resetAfterSending = () => new TargetUnreachable('example.com: the connection was reset', true)
export const refusedConnection = () => new TargetUnreachable('example.com: the connection is refused', false)

export function createScriptedOutbound(...answers: readonly ScriptedAnswer[]): ScriptedOutbound {
  const left = [...answers]
  const requests: OutboundRequest[] = []
  return {
    requests,
    get calls() {
      return requests.map(({ method, url }) => `${method} ${url}`)
    },
    async request(request) {
      requests.push(request)
      const answer = left.shift()
      if (answer === undefined) throw new Error(`no answer is written down for ${request.method} ${request.url}`)
      if (answer instanceof Error) throw answer
      return toAnswer(answer)
    },
    close: async () => {},
  }
}

function toAnswer({ status, body = '', headers = {} }: Exclude<ScriptedAnswer, Error>): OutboundAnswer {
  return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body), isCut: false }
}
