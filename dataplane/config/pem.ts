/** Whether texts are a certificate and a key. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** Each throws where a text does not begin with one. */
export const CHECK_PEM = {
  certificate: (text: string): unknown => new X509Certificate(text),
  key: (text: string): unknown => createPrivateKey(text),
} as const

/** Throws where they do not belong together. `createSecureContext` alone takes empty texts, and no client could connect then. */
export function checkKeyPair(pair: KeyPair): void {
  CHECK_PEM.certificate(pair.cert)
  CHECK_PEM.key(pair.key)
  createSecureContext(pair)
}
