import { STATUS_CODES } from './node-http.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** An answer as HTTP/1.1 writes it, for a client that no server of it will answer: its connection closes with it. */
export function formatLastAnswer(status: number, body: object): Buffer {
  return formatLastBytes(status, JSON_TYPE, Buffer.from(JSON.stringify(body)))
}

/** The same with a body of another type. */
export function formatLastBytes(status: number, contentType: string, body: Uint8Array): Buffer {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}
