/** Bytes that are almost HTTP: requests damaged on their way, and frames of HTTP/2 in any order, at every port. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { mutateBytes } from '../../../dataplane/testing/hostile/odd-values.ts'
import { SeededRandom } from '../../../dataplane/testing/hostile/seeded-random.ts'
import type { Attack, Reaction } from './send-attack.ts'

/** Longest wait for an answer: many a damaged request is only half a one. */
const PATIENCE_MS = 300
const SHOWN_BYTES = 120

/** `addresses` by the name of the port; `https:` where it speaks TLS. */
export function* attacksOnWires(addresses: Readonly<Record<string, string>>, seed: number): Generator<Attack, never> {
  const random = new SeededRandom(seed)
  const names = Object.keys(addresses)
  for (;;) {
    const name = random.pick(names)
    const { hostname, port, protocol } = new URL(addresses[name]!)
    const isHttp2 = random.chance(name === 'grpc' ? 0.9 : 0.2)
    const bytes = isHttp2 ? http2Bytes(random) : mutateBytes(http1Bytes(random), random)
    const to: Destination = {
      host: hostname,
      port: Number(port),
      protocol: protocol === 'https:' ? (isHttp2 ? 'h2' : 'http/1.1') : undefined,
    }
    yield { title: `${name}: ${JSON.stringify(bytes.toString('latin1', 0, SHOWN_BYTES))}`, send: () => sendBytes(to, bytes) }
  }
}

interface Destination {
  readonly host: string
  readonly port: number
  /** Over TLS. */
  readonly protocol: 'h2' | 'http/1.1' | undefined
}

const PATHS = ['/', '/health', '/v1/logs', '/metrics', '/api/incidents', '/_bulk', '/service-logs-*/_search', '/api/upload', '/a/../b', '*']
/** None that could delete what others have sent. */
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PATCH', 'BREW']
const HEADERS = [
  ...['Content-Type: application/json', 'Content-Encoding: gzip', 'Expect: 100-continue', 'Connection: close', 'Connection: Upgrade'],
  ...[
    'Transfer-Encoding: chunked',
    'Upgrade: h2c',
    'TE: trailers',
    'x-service-tenant-id: mallory',
    'x-service-api-key: svc_proj_0',
    'Host: b',
  ],
  ...['Content-Length: 2', 'Content-Length: 99999999', 'Content-Length: -1', `X-Long: ${'x'.repeat(20_000)}`, ': empty', 'No-Colon'],
]
const BODIES = ['', '{}', '{"resourceLogs":[]}', '2\r\n{}\r\n0\r\n\r\n', 'fffffffff\r\n', '{"query":{"match_all":{}}}\n']

function http1Bytes(random: SeededRandom): Buffer {
  const request = () => {
    const headers = Array.from({ length: random.below(6) }, () => `${random.pick(HEADERS)}\r\n`)
    return `${random.pick(METHODS)} ${random.pick(PATHS)} HTTP/1.${random.below(3)}\r\nHost: a\r\n${headers.join('')}\r\n${random.pick(BODIES)}`
  }
  return Buffer.from(Array.from({ length: random.mostlySmall(1, 20) }, request).join(''))
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const FRAME_TYPES = 11
/** Blocks of header fields: a request, one without a path, an index of nothing, a table of the wrong size, text without an end. */
const BLOCKS = ['838684410161', '82', 'ff80', '3fe1ff', '400a61'].map(hex => Buffer.from(hex, 'hex'))

function http2Bytes(random: SeededRandom): Buffer {
  const frames = Array.from({ length: random.mostlySmall(1, 200) }, () => {
    const type = random.below(FRAME_TYPES)
    const payload = random.chance(0.5) ? random.pick(BLOCKS) : random.bytes(random.mostlySmall(1, 40))
    const flags = random.chance(0.6) ? random.pick([0, 1, 4, 5, 8, 0x20]) : random.below(256)
    const head = Buffer.alloc(9)
    head.writeUIntBE(random.chance(0.95) ? payload.length : random.below(2 ** 24), 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(random.pick([0, 1, 1, 3, 5, 7, 2, 0x7fff_ffff]), 5)
    return Buffer.concat([head, payload])
  })
  const settings = random.chance(0.95) ? [Buffer.from('000000040000000000', 'hex')] : []
  return Buffer.concat([Buffer.from(PREFACE), ...settings, ...frames])
}

function sendBytes({ host, port, protocol }: Destination, bytes: Buffer): Promise<Reaction> {
  return new Promise(resolve => {
    let text = ''
    const socket: Socket =
      protocol === undefined ? connect({ host, port }) : connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: [protocol] })
    const end = (how: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ status: worstOf(text) ?? how, text: text.slice(0, SHOWN_BYTES) })
    }
    const timer = setTimeout(() => end('open'), PATIENCE_MS)
    socket.once(protocol === undefined ? 'connect' : 'secureConnect', () => socket.write(bytes))
    socket.on('data', piece => {
      text += piece.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.once('close', () => end('closed'))
  })
}

/** The highest status of the answers over HTTP/1; undefined without any. */
function worstOf(text: string): string | undefined {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map(([, status]) => status!)
    .toSorted()
    .at(-1)
}
