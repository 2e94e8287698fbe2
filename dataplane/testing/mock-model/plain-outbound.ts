import { type OutboundHttp, TargetUnreachable } from '../../ports/outbound-http.ts'

/** Outbound HTTP without any guard, for suites with servers on this machine. */
export function createPlainOutbound(): OutboundHttp {
  return {
    async request({ method, url, headers, body, timeoutMs, maxAnswerBytes = 1_048_576 }, signal) {
      const isText = typeof body === 'string'
      try {
        const answer = await fetch(url, {
          method,
          headers: { ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
          redirect: 'manual',
          signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
        })
        const bytes = Buffer.from(await answer.arrayBuffer())
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          text: bytes.subarray(0, maxAnswerBytes).toString(),
          isCut: bytes.length > maxAnswerBytes,
        }
      } catch (error) {
        throw new TargetUnreachable(`${new URL(url).host}: ${String(error)}`, true, { cause: error })
      }
    },
    async close() {},
  }
}
