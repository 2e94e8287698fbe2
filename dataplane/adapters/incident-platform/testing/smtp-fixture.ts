/** A real SMTP server on loopback that keeps what arrives. */
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface SmtpFixture {
  readonly port: number
  /** As they came, head and body. */
  readonly mails: readonly { readonly recipients: readonly string[]; readonly source: string }[]
  readonly connections: number
  close(): Promise<void>
}

export async function startSmtp(options: SMTPServerOptions = {}): Promise<SmtpFixture> {
  const mails: { recipients: readonly string[]; source: string }[] = []
  let connections = 0
  const server = new SMTPServer({
    logger: false,
    onConnect(_, done) {
      connections++
      done()
    },
    onAuth: ({ username, password }, _, done) =>
      username === 'bot' && password === 'smtp-secret' ? done(null, { user: 'bot' }) : done(new Error(`Invalid login for ${password}`)),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({ recipients: session.envelope.rcptTo.map(({ address }) => address), source: Buffer.concat(chunks).toString() })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    get connections() {
      return connections
    },
    close: () => new Promise(done => server.close(done)),
  }
}

/** An error that the server answers with its code. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}
