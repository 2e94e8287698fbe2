/** Makes a self-signed certificate for a TLS server, with a key of its own (RFC 5280; P-256, ECDSA with SHA-256). */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import { bits, explicit, implicit, integer, objectIdentifier, octets, sequence, set, text, time, yes } from './der.ts'

export interface SelfSignedConfig {
  readonly commonName: string
  /** Names and IP addresses that the server is reached by. A name that is not ASCII is left out. */
  readonly hosts: readonly string[]
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const

/** Version 3 is written as 2. */
const VERSION = integer(Uint8Array.of(2))
const SERIAL_BYTES = 16
/** The first of nine bits: `digitalSignature`. */
const DIGITAL_SIGNATURE = bits(Uint8Array.of(0x80), 7)
const DNS_NAME = 2
const IP_ADDRESS = 7

const ALGORITHM = sequence(objectIdentifier(OID.ecdsaWithSha256))

/** Both in PEM. */
export function makeSelfSigned(config: SelfSignedConfig): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = certificateBody(config, publicKey)
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ALGORITHM, bits(signature))
  return { cert: pem('CERTIFICATE', certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** The part of a certificate that is signed. */
function certificateBody({ commonName, hosts, notBeforeMs, notAfterMs }: SelfSignedConfig, publicKey: KeyObject): Buffer {
  const name = sequence(set(sequence(objectIdentifier(OID.commonName), text(commonName))))
  const validity = sequence(time(notBeforeMs), time(notAfterMs))
  return sequence(
    explicit(0, VERSION),
    integer(randomBytes(SERIAL_BYTES)),
    ALGORITHM,
    ...[name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, extensions(hosts)),
  )
}

function extensions(hosts: readonly string[]): Buffer {
  return sequence(
    // The default, no authority, is left out as defaults are.
    extension(OID.basicConstraints, sequence(), 'critical'),
    extension(OID.keyUsage, DIGITAL_SIGNATURE, 'critical'),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...hosts.flatMap(alternativeName))),
  )
}

function extension(oid: string, value: Uint8Array, critical?: 'critical'): Buffer {
  return sequence(objectIdentifier(oid), ...(critical === undefined ? [] : [yes()]), octets(value))
}

function alternativeName(host: string): readonly Buffer[] {
  if (isIP(host) !== 0) return addressBytes(host).map(bytes => implicit(IP_ADDRESS, bytes))
  return /^[\x21-\x7e]+$/.test(host) ? [implicit(DNS_NAME, Buffer.from(host, 'latin1'))] : []
}

/** Four or sixteen of them; none for an address within one link (`fe80::1%eth0`), which certificates cannot hold. */
function addressBytes(address: string): readonly Uint8Array[] {
  if (isIPv4(address)) return [Uint8Array.from(address.split('.'), Number)]
  // URLs have one spelling of each address: without an IPv4 part, the longest run of zeros as `::`.
  const spelling = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
  if (spelling === undefined) return []
  const [head = [], tail = []] = spelling.split('::').map(half => half.split(':').filter(group => group !== ''))
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return [Buffer.from(groups.map(group => group.padStart(4, '0')).join(''), 'hex')]
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
