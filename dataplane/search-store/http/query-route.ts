import { BACKGROUND, BACKGROUND_HEADER } from '../../limits/background-queries.ts'
import type { ClientCall, QueryOperation } from '../calls/query-call.ts'
import { acceptsGzip } from './answer/accepts-gzip.ts'
import type { Reply } from './answer/reply.ts'
import type { Call } from './route.ts'

/** Hands a call to where queries run. */
export function queryRoute(operation: QueryOperation): (call: Call) => Promise<Reply> {
  return async call => {
    const answer = await call.deps.queries.run(queryCallOf(call, operation), call.signal)
    return { status: answer.status, answer }
  }
}

export function queryCallOf({ path, query, body, headers, answerMemory }: Call, operation: QueryOperation): ClientCall {
  return {
    ...{ operation, index: path['index'], parameters: query, body, acceptsGzip: acceptsGzip(headers['accept-encoding']), answerMemory },
    isBackground: headers[BACKGROUND_HEADER] === BACKGROUND,
  }
}
