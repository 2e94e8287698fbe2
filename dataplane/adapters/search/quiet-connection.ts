import type { ClientRequest } from 'node:http'
import { Connection } from '@opensearch-project/opensearch'

/** The client's connection prints errors that come after the head of an answer to stdout, among our log lines; its transport learns of them anyway. */
export class QuietConnection extends Connection {
  override request(...args: Parameters<Connection['request']>): ClientRequest {
    const request = super.request(...args)
    request.once('response', () => {
      request.removeAllListeners('error')
      request.on('error', () => {})
    })
    return request
  }
}
