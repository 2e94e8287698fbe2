import { type Agent, request } from 'node:http'

/** Sends a prebuilt `_bulk` request; rejects unless every item went well. Does nothing else: that is what it is measured for. */
export function postBulk(endpoint: string, agent: Agent, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-ndjson', 'content-length': body.length }
    const sending = request(`${endpoint}/_bulk?filter_path=errors,items.*.error`, { method: 'POST', agent, headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (text === '{"errors":false}') resolve()
        else reject(new Error(`bulk answered ${response.statusCode}: ${text.slice(0, 500)}`))
      })
    })
    sending.on('error', reject)
    sending.end(body)
  })
}
