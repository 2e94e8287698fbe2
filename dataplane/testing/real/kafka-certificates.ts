import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOST } from './place.ts'
import { runProgram } from './run-program.ts'

/** `ca.pem` of an authority, and `keystore.pem` of a certificate for `HOST` and localhost that is signed by it. */
export function makeCertificates(dir: string): void {
  const path = (file: string) => join(dir, file)
  const openssl = (...args: string[]) => runProgram('openssl', args)
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '30',
    '-subj',
    '/CN=logpipeline test authority',
    '-keyout',
    path('ca.key'),
    '-out',
    path('ca.pem'),
  )
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', path('server.key'), '-out', path('server.csr'))
  writeFileSync(path('server.ext'), `subjectAltName=DNS:localhost,IP:${HOST}\n`)
  openssl(
    'x509',
    '-req',
    '-in',
    path('server.csr'),
    '-CA',
    path('ca.pem'),
    '-CAkey',
    path('ca.key'),
    '-CAcreateserial',
    '-days',
    '30',
    '-extfile',
    path('server.ext'),
    '-out',
    path('server.pem'),
  )
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', path('server.key'), '-out', path('server.pk8'))
  writeFileSync(path('keystore.pem'), ['server.pk8', 'server.pem', 'ca.pem'].map(file => readFileSync(path(file), 'utf8')).join(''))
}
