import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { type Certificate, readCertificate, selfSigned, watchCertificate } from './certificate.ts'
import { startTlsServer } from './tls-server.ts'

describe("the gateway's certificate", () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'certificate-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))
  const filesOf = (name: string) => ({ certFile: join(directory, `${name}.crt`), keyFile: join(directory, `${name}.key`) })
  const write = ({ cert, key }: Certificate, files = filesOf('tls')) => {
    writeFileSync(files.certFile, cert)
    writeFileSync(files.keyFile, key)
    return files
  }

  it('is self-signed without one, for this machine, and kept in the directory', async () => {
    const made = selfSigned('127.0.0.1', systemClock, directory)
    const certificate = new X509Certificate(made.cert)
    expect([certificate.checkHost('localhost'), certificate.checkIP('127.0.0.1'), certificate.checkIP('::1')]).to.deep.equal([
      'localhost',
      '127.0.0.1',
      '::1',
    ])
    expect(new X509Certificate(selfSigned('127.0.0.1', systemClock, directory).cert).serialNumber).to.equal(certificate.serialNumber)
  })

  it('is a file that senders may be given, without the key, which is for its user alone', () => {
    const made = selfSigned('127.0.0.1', systemClock, directory)
    expect(readFileSync(join(directory, 'gateway-certificate.pem'), 'utf8'))
      .to.equal(made.cert)
      .and.not.contain('PRIVATE KEY')
    expect(readFileSync(join(directory, 'gateway-key.pem'), 'utf8')).to.equal(made.key)
    expect(statSync(join(directory, 'gateway-key.pem')).mode & 0o777).to.equal(0o600)
  })

  it('is made anew where the key in the directory is of another, as after a stop between the two files', () => {
    const first = selfSigned('127.0.0.1', systemClock, directory)
    writeFileSync(join(directory, 'gateway-key.pem'), selfSigned('127.0.0.1', systemClock).key)
    const second = selfSigned('127.0.0.1', systemClock, directory)
    expect(second.cert).to.not.equal(first.cert)
    expect(selfSigned('127.0.0.1', systemClock, directory)).to.deep.equal(second)
  })

  it('that has little time left is made anew', async () => {
    const first = selfSigned('127.0.0.1', createFakeClock(Date.now() - 340 * 86_400_000), directory)
    expect(selfSigned('127.0.0.1', systemClock, directory).cert).to.not.equal(first.cert)
  })

  it('in files that hold no pair ends the start, naming the settings', async () => {
    const [one, other] = [selfSigned('127.0.0.1', systemClock), selfSigned('127.0.0.1', systemClock)]
    for (const pair of [
      { cert: one.cert, key: other.key },
      { cert: '', key: one.key },
      { cert: one.cert, key: '' },
    ])
      expect(() => readCertificate(write(pair))).to.throw('TLS_CERT_FILE, TLS_KEY_FILE: expected')
  })

  it('is changed for new connections when the files change, and stays while they are not whole', async () => {
    const [first, second] = [selfSigned('127.0.0.1', systemClock), selfSigned('127.0.0.1', systemClock)]
    const files = write(first)
    const server = await startTlsServer(() => undefined, first, { host: '127.0.0.1', port: 0, setting: 'GATEWAY_PORT' })
    const clock = createFakeClock()
    const ending = new AbortController()
    const watching = watchCertificate(files, { clock, log: SILENT, signal: ending.signal, first, onChange: server.setCertificate })
    const look = async () => {
      clock.advance(5_000)
      while (clock.sleepers === 0) await new Promise(setImmediate)
    }
    const seen = () =>
      new Promise(resolve => {
        const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
          resolve(socket.getPeerX509Certificate()!.serialNumber)
          socket.destroy()
        })
      })
    for (const cert of [second.cert, '']) {
      writeFileSync(files.certFile, cert)
      await look()
      expect(await seen()).to.equal(new X509Certificate(first.cert).serialNumber)
    }
    write(second)
    await look()
    expect(await seen()).to.equal(new X509Certificate(second.cert).serialNumber)
    ending.abort()
    await watching
    await server.stop(0)
  })
})
