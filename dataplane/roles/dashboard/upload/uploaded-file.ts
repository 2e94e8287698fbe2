/** The bytes of an uploaded file as they come: raw or as the multipart field `file`, plain or gzip, in UTF-8, within a bound (Decisions 7). */
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { unpackGzip, unpackPerhapsGzip } from '../../../compression/perhaps-gzip.ts'
import { HttpError } from '../../../http/http-error.ts'
import { toUtf8 } from './utf8-bytes.ts'

type Bytes = AsyncIterable<Buffer>

/** Parts of a multipart body, with the fields that are no file. */
const MAX_PARTS = 100
/** Length of a field that is no file: it is read over. */
const MAX_FIELD_BYTES = 1_024
/** Bytes that a form may add to its file. */
export const FORM_BYTES = 64 * 1024

/**
 * Reads no more of `sentBytes`, the body of the request as it was sent, than is asked for. Throws `HttpError`: 400 for broken
 * gzip or multipart, 413 beyond `maxBytes` (as sent, and unpacked), 415.
 */
export async function* readUploadedFile(request: IncomingMessage, sentBytes: Bytes, maxBytes: number): AsyncGenerator<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding))
    throw new HttpError(415, `content-encoding: expected identity or gzip, seen ${encoding}`, { 'accept-encoding': 'gzip' })
  const sent = bounded(sentBytes, maxBytes + FORM_BYTES)
  const body = encoding === 'identity' ? sent : bounded(unpacked(unpackGzip(sent)), maxBytes + FORM_BYTES)
  const file = isMultipart(request) ? fileOf(request, body) : body
  yield* toUtf8(bounded(unpacked(unpackPerhapsGzip(file)), maxBytes))
}

function isMultipart({ headers }: IncomingMessage): boolean {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type.startsWith('multipart/') && type !== 'multipart/form-data')
    throw new HttpError(415, `content-type: expected multipart/form-data or the file itself, seen ${type}`)
  return type === 'multipart/form-data'
}

async function* bounded(source: Bytes, maxBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const chunk of source) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) throw new HttpError(413, `the upload is larger than ${maxBytes} bytes; split it`)
    yield chunk
  }
}

/** Broken gzip is told as a problem of the request. */
async function* unpacked(bytes: Bytes): AsyncGenerator<Buffer> {
  try {
    yield* bytes
  } catch (cause) {
    if (!isZlibError(cause)) throw cause
    throw new HttpError(400, `the upload is not gzip to its end: ${cause.message}`, {}, { cause })
  }
}

function isZlibError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ((error as NodeJS.ErrnoException).code ?? '').startsWith('Z_')
}

/** The field `file` of a form; other fields are read over. */
async function* fileOf(request: IncomingMessage, body: Bytes): AsyncGenerator<Buffer> {
  const form = createForm(request)
  const found = Promise.withResolvers<Readable | undefined>()
  let files = 0
  form.on('file', (_name, stream) => {
    if (++files === 1) return found.resolve(stream)
    stream.resume()
  })
  const ended = new Promise<void>((resolve, reject) => {
    pipeline(Readable.from(body), form, error => {
      if (error == null) resolve()
      else reject(error instanceof HttpError ? error : new HttpError(400, `not a complete form: ${error.message}`, {}, { cause: error }))
    })
  })
  // Callers that wait for either promise hear of it.
  ended.then(() => found.resolve(undefined), found.reject)
  const file = await found.promise
  if (file === undefined) throw new HttpError(400, 'file: expected a file in this field of the form, seen none')
  yield* joinedWith(file, ended)
  await ended
  if (files > 1) throw new HttpError(400, `file: expected one file, seen ${files}; the first was taken`)
}

/** Joins a file with the form around it: a break of the form is told in place of the break of its file. */
async function* joinedWith(file: Readable, ended: Promise<void>): AsyncGenerator<Buffer> {
  try {
    yield* file as Bytes
  } catch (error) {
    await ended
    throw error
  }
}

function createForm({ headers }: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile: name => name === 'file',
      limits: { parts: MAX_PARTS, fieldSize: MAX_FIELD_BYTES },
    })
  } catch (cause) {
    throw new HttpError(400, `content-type: ${(cause as Error).message}`, {}, { cause })
  }
}
