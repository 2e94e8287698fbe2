/** The gateway's certificate: from files, read again when they change, else a self-signed one. */
import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { checkKeyPair, type KeyPair } from '../../../config/pem.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { makeSelfSigned } from './self-signed.ts'

export type Certificate = KeyPair

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

const DAY_MS = 86_400_000
const VALID_MS = 365 * DAY_MS
/** A self-signed one with less time is made anew. */
const LEAST_LEFT_MS = 30 * DAY_MS
/** How often files are looked at for another certificate. */
const LOOK_MS = 5_000

/** Throws with the setting when the files hold no pair. */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  try {
    checkKeyPair(pair)
  } catch (cause) {
    throw new Error(`TLS_CERT_FILE, TLS_KEY_FILE: expected a certificate and its key in PEM: ${(cause as Error).message}`, { cause })
  }
  return pair
}

/** Calls back for each new pair in the files, until the signal aborts. A pair that is not whole yet is looked at again. */
export async function watchCertificate(
  files: CertificateFiles,
  { clock, log, signal, first, onChange }: WatchDeps & { readonly first: Certificate; onChange(next: Certificate): void },
): Promise<void> {
  let current = first
  let warned = ''
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal)
    try {
      const next = readCertificate(files)
      warned = ''
      if (next.cert === current.cert && next.key === current.key) continue
      onChange(next)
      current = next
      log.info({ validTo: new X509Certificate(next.cert).validTo }, 'the certificate was changed')
    } catch (error) {
      const { message } = error as Error
      if (message !== warned) log.warn({ error }, 'the certificate cannot be read again, the one before stays')
      warned = message
    }
  }
}

interface WatchDeps {
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

/** A self-signed one for this machine; with a directory the one that is there, while it has time left. */
export function selfSigned(host: string, clock: Clock, directory?: string): Certificate {
  const kept = directory === undefined ? undefined : readKept(directory, clock.nowMs())
  if (kept !== undefined) return kept
  const made = make(host, clock.nowMs())
  if (directory !== undefined) keep(directory, made)
  return made
}

/** Senders are given the first, so the key lies beside it. */
const CERTIFICATE_FILE = 'gateway-certificate.pem'
const KEY_FILE = 'gateway-key.pem'

/** Undefined where the files are no pair, as after a stop between the writing of the two. */
function readKept(directory: string, nowMs: number): Certificate | undefined {
  try {
    const [cert, key] = [readFileSync(join(directory, CERTIFICATE_FILE), 'utf8'), readFileSync(join(directory, KEY_FILE), 'utf8')]
    checkKeyPair({ cert, key })
    const { validToDate } = new X509Certificate(cert)
    return validToDate.getTime() - nowMs > LEAST_LEFT_MS ? { cert, key } : undefined
  } catch {
    return undefined
  }
}

function keep(directory: string, { cert, key }: Certificate): void {
  mkdirSync(directory, { recursive: true })
  for (const [file, text, mode] of [
    [KEY_FILE, key, 0o600],
    [CERTIFICATE_FILE, cert, 0o644],
  ] as const) {
    const draft = join(directory, `${file}.new`)
    writeFileSync(draft, text, { mode })
    renameSync(draft, join(directory, file))
  }
}

/** For the names and addresses of this machine. */
function make(host: string, nowMs: number): Certificate {
  const own = ['localhost', hostname(), '127.0.0.1', '::1']
  return makeSelfSigned({
    commonName: 'logpipeline',
    hosts: [...new Set(isIP(host) !== 0 && !ALL_ADDRESSES.has(host) ? [...own, host] : own)],
    notBeforeMs: nowMs - DAY_MS,
    notAfterMs: nowMs + VALID_MS,
  })
}

/** Hosts to listen on that are no address of this machine. */
const ALL_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
