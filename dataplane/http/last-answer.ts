import { STATUS_CODES } from './node-http.ts'

/** An answer as HTTP/1.1 writes it, for a client that no server of it will answer: its connection closes with it. */
export function formatLastAnswer(status: number, body: object): string {
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}
