import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { skipBecause } from '../../../testing/skip-because.ts'
import { makeSelfSigned } from './self-signed.ts'

const DAY_MS = 86_400_000
const NOW = Math.floor(Date.now() / 1_000) * 1_000
const HOSTS = ['localhost', 'logs_1.example.com', '127.0.0.1', '::1', '2001:db8::8a2e:370:7334', '::ffff:10.0.0.1', '1::']
const make = (change: Partial<Parameters<typeof makeSelfSigned>[0]> = {}) =>
  makeSelfSigned({ commonName: 'logpipeline', hosts: HOSTS, notBeforeMs: NOW - DAY_MS, notAfterMs: NOW + 365 * DAY_MS, ...change })

describe('a self-signed certificate', () => {
  it('belongs to its key, and is signed by it', () => {
    const { cert, key } = make()
    const certificate = new X509Certificate(cert)
    expect(certificate.checkPrivateKey(createPrivateKey(key))).to.equal(true)
    expect(certificate.verify(certificate.publicKey)).to.equal(true)
    expect(certificate.verify(new X509Certificate(make().cert).publicKey)).to.equal(false)
  })

  it('names its subject, its hosts and what it is for, and is no authority', () => {
    const { subject, issuer, ca, keyUsage } = new X509Certificate(make().cert)
    expect({ subject, issuer, ca, keyUsage }).to.deep.equal({
      subject: 'CN=logpipeline',
      issuer: 'CN=logpipeline',
      ca: false,
      keyUsage: ['1.3.6.1.5.5.7.3.1'],
    })
  })

  for (const host of HOSTS)
    it(`is for ${host}`, () => {
      const certificate = new X509Certificate(make().cert)
      expect(/^[a-z]/.test(host) ? certificate.checkHost(host) : certificate.checkIP(host)).to.equal(host)
    })

  it('is for no other host, and leaves out what a certificate cannot hold', () => {
    const certificate = new X509Certificate(make({ hosts: ['localhost', 'größe', 'fe80::1%eth0', 'a b'] }).cert)
    expect(certificate.subjectAltName).to.equal('DNS:localhost')
    expect(certificate.checkIP('127.0.0.1')).to.equal(undefined)
  })

  it('holds its time to the second, also beyond 2049', () => {
    const [from, until] = [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)]
    const { validFromDate, validToDate } = new X509Certificate(make({ notBeforeMs: from, notAfterMs: until }).cert)
    expect([validFromDate.getTime(), validToDate.getTime()]).to.deep.equal([from, until])
  })

  it('has a serial number of its own, above zero', () => {
    const serials = new Set(Array.from({ length: 200 }, () => new X509Certificate(make({ hosts: ['a'] }).cert).serialNumber))
    expect(serials.size).to.equal(200)
    for (const serial of serials) expect(serial).to.match(/^[0-9A-F]{1,32}$/)
  })

  it('is taken by a TLS client that trusts it, under its names alone', async () => {
    const pair = make()
    const server = createServer(pair, socket => socket.end()).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const outcome = (servername: string, ca?: string) =>
      new Promise(resolve => {
        const socket = connect({ host: '127.0.0.1', port, servername, ...(ca !== undefined && { ca }) }, () => resolve(socket.authorized))
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)).once('close', () => socket.destroy())
      })
    expect(await outcome('localhost', pair.cert)).to.equal(true)
    expect(await outcome('elsewhere.example', pair.cert)).to.equal('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(await outcome('localhost')).to.equal('DEPTH_ZERO_SELF_SIGNED_CERT')
    server.close()
  })

  it('is right to OpenSSL in the strictest reading', function () {
    if (spawnSync('openssl', ['version']).status !== 0) skipBecause(this, 'there is no openssl')
    const directory = mkdtempSync(join(tmpdir(), 'certificate-'))
    try {
      const path = join(directory, 'tls.crt')
      writeFileSync(path, make().cert)
      expect(execFileSync('openssl', ['verify', '-x509_strict', '-check_ss_sig', '-CAfile', path, path]).toString()).to.contain('OK')
      const shown = execFileSync('openssl', ['x509', '-in', path, '-noout', '-text']).toString()
      expect(shown)
        .to.contain('Version: 3 (0x2)')
        .and.to.contain('X509v3 Basic Constraints: critical\n                CA:FALSE')
        .and.to.contain('X509v3 Key Usage: critical\n                Digital Signature\n')
        .and.to.contain('TLS Web Server Authentication')
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
