/** The pages that the dashboard serves: files of one directory, read at start, so that no path leads out of it. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { HttpError } from '../../../http/http-error.ts'

export interface Site {
  /** Answers GET and HEAD; throws `HttpError` 404 or 405. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json; charset=utf-8'],
  ['.map', 'application/json; charset=utf-8'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
])
/** Packed already. */
const PACKED: ReadonlySet<string> = new Set(['image/png', 'image/x-icon', 'font/woff2'])
const MIN_PACKED_BYTES = 1_024
/** Files of a build whose names change with what they hold. */
const LASTING = /^\/assets\/.*[-.][\w-]{8,}\.\w+$/
/** Size of all files together: a directory that is no console is not read into memory. */
const MAX_SITE_BYTES = 64 * 1024 * 1024

type Encoding = 'br' | 'gzip'
const PACK: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: bytes => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: bytes => promisify(gzip)(bytes),
}

interface SiteFile {
  readonly bytes: Buffer
  readonly type: string
  readonly etag: string
  readonly packed: Map<Encoding, Promise<Buffer>>
}

/** Settings that the index tells the console. */
export interface SiteSettings {
  /** The path that the site is served below. */
  readonly basePath?: string
  /** Undefined: the gateway is no part of this process, and its address is not known. */
  readonly gatewayPort?: number | undefined
}

/** The first of the directories that holds a page. Throws when none does. */
export function openSite(directories: readonly string[], settings: SiteSettings = {}): Site {
  const directory = directories.find(candidate => existsSync(join(candidate, 'index.html')))
  if (directory === undefined) throw new Error(`console: expected index.html in one of ${directories.join(', ')}, found none`)
  const files = readFiles(directory, settings)
  const index = files.get('/index.html')!
  return {
    async serve(request, response, path) {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new HttpError(405, `${request.method} is not allowed here; allowed: GET, HEAD`, { allow: 'GET, HEAD' })
      const file = files.get(path) ?? (isPage(request, path) ? index : undefined)
      if (file === undefined) throw new HttpError(404, `no such path: ${path}`)
      await send(request, response, file, LASTING.test(path))
    },
  }
}

/** Whether the path is a page of the console, which the console's own router finds. */
function isPage({ headers }: IncomingMessage, path: string): boolean {
  return path === '/' || (extname(path) === '' && (headers.accept ?? '').includes('text/html'))
}

function readFiles(directory: string, settings: SiteSettings): ReadonlyMap<string, SiteFile> {
  const names = globSync('**/*', { cwd: directory }).filter(name => statSync(join(directory, name)).isFile())
  const sizeBytes = names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  if (sizeBytes > MAX_SITE_BYTES) throw new Error(`${directory}: expected a console of at most ${MAX_SITE_BYTES} bytes, seen ${sizeBytes}`)
  const read = (name: string) => {
    const bytes = readFileSync(join(directory, name))
    return toFile(name, name === 'index.html' ? withSettings(settings, bytes) : bytes)
  }
  return new Map(names.map(name => [`/${name.replaceAll('\\', '/')}`, read(name)]))
}

/** The index is shown at each path of the console: its files have to be named from the root. */
function withSettings({ basePath = '', gatewayPort }: SiteSettings, index: Buffer): Buffer {
  const base = basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const page = index
    .toString('utf8')
    .replace('name="base-path" content=""', () => `name="base-path" content="${base}"`)
    .replace('name="gateway-port" content=""', `name="gateway-port" content="${gatewayPort ?? ''}"`)
  return Buffer.from(page.replaceAll(/\b(href|src)="\.\//g, (_, name: string) => `${name}="${base}/`))
}

function toFile(name: string, bytes: Buffer): SiteFile {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, etag, type: TYPES.get(extname(name)) ?? 'application/octet-stream', packed: new Map() }
}

async function send(request: IncomingMessage, response: ServerResponse, file: SiteFile, isLasting: boolean): Promise<void> {
  response.setHeader('etag', file.etag)
  response.setHeader('vary', 'accept-encoding')
  response.setHeader('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-cache')
  if (request.headers['if-none-match']?.includes(file.etag)) return void response.writeHead(304).end()
  const encoding = encodingFor(request, file)
  const body = encoding === undefined ? file.bytes : await packed(file, encoding)
  response.setHeader('content-type', file.type)
  if (encoding !== undefined) response.setHeader('content-encoding', encoding)
  response.setHeader('content-length', body.length)
  response.writeHead(200).end(request.method === 'HEAD' ? undefined : body)
}

function encodingFor(request: IncomingMessage, file: SiteFile): Encoding | undefined {
  if (file.bytes.length < MIN_PACKED_BYTES || PACKED.has(file.type)) return undefined
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map(part => part.trim().toLowerCase())
    .filter(part => !/;\s*q=0(\.0*)?$/.test(part))
    .map(part => part.split(';')[0]!.trim())
  return (['br', 'gzip'] as const).find(encoding => accepted.includes(encoding))
}

/** Packed at the first request that wants it, once. */
function packed(file: SiteFile, encoding: Encoding): Promise<Buffer> {
  const known = file.packed.get(encoding)
  if (known !== undefined) return known
  const packing = PACK[encoding](file.bytes)
  file.packed.set(encoding, packing)
  return packing
}
