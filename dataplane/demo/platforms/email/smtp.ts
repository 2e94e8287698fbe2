/** The SMTP server before the inbox. It listens on this machine alone, hence without TLS; senders have to log in. */
import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { type HttpServer, type ListenConfig, listen } from '../../../http/server.ts'
import type { RequestFault } from '../faults.ts'
import { DEMO } from '../settings.ts'

const MAX_MAIL_BYTES = 1024 * 1024
const MAX_CLIENTS = 50
const CLOSE_TIMEOUT_MS = 500

export interface SmtpDeps {
  /** Called once a mail is complete. */
  receive(source: Buffer, envelope: { readonly from: string; readonly to: readonly string[] }): void
  takeFault(command: string): RequestFault | undefined
  onDone(command: string): void | Promise<void>
  sleep(ms: number): Promise<void>
}

/** The commands that can meet a fault; `DATA` where the fault names none. */
const SMTP_COMMANDS = ['AUTH', 'MAIL', 'RCPT', 'DATA'] as const
type Command = (typeof SMTP_COMMANDS)[number]

type Answer = (error?: Error | null) => void

export function startSmtp(at: ListenConfig, deps: SmtpDeps): Promise<HttpServer> {
  const sockets = new Map<number, Socket>()

  /** Accepts, unless a fault is meant for the command. */
  const meet = async (command: Command, session: SMTPServerSession, accept: () => void): Promise<Error | undefined> => {
    const fault = deps.takeFault(command)
    if (fault === undefined || ('afterAccepting' in fault && fault.afterAccepting)) accept()
    if (fault?.kind === 'stall') {
      await deps.sleep(fault.ms)
      if (!fault.afterAccepting) accept()
    }
    await deps.onDone(command)
    if (fault?.kind === 'reset') sockets.get(session.remotePort)?.resetAndDestroy()
    if (fault?.kind === 'status') return smtpError(fault.status, fault.text ?? 'made to fail')
    return fault?.kind === 'rate-limit' ? smtpError(421, 'too many messages, try again later') : undefined
  }
  const answerAs = (command: Command, session: SMTPServerSession, answer: Answer) =>
    void meet(command, session, () => undefined).then(error => answer(error ?? null))

  const server = new SMTPServer({
    name: 'stub.example.com',
    banner: 'logpipeline demo',
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    size: MAX_MAIL_BYTES,
    maxClients: MAX_CLIENTS,
    closeTimeout: CLOSE_TIMEOUT_MS,
    onAuth({ username, password }, session, answer) {
      void meet('AUTH', session, () => undefined).then(error => {
        const isKnown = username === DEMO.email.user && password === DEMO.email.password
        answer(error ?? (isKnown ? null : smtpError(535, 'Authentication credentials invalid')), { user: username })
      })
    },
    onMailFrom: (_, session, answer) => answerAs('MAIL', session, answer),
    onRcptTo: (_, session, answer) => answerAs('RCPT', session, answer),
    onData(stream, session, answer) {
      const receive = async (source: Buffer) => {
        const { mailFrom, rcptTo } = session.envelope
        const envelope = { from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) }
        if (stream.sizeExceeded) return smtpError(552, 'Message exceeds fixed maximum message size')
        return await meet('DATA', session, () => deps.receive(source, envelope))
      }
      // A sender that is gone in the midst of its mail hears no answer.
      void readMail(stream)
        .then(receive)
        .then(error => answer(error ?? null), answer)
    },
  })
  // Connections that break are errors here, such as those that a fault breaks.
  server.on('error', () => undefined)
  server.server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    sockets.set(remotePort, socket)
    socket.once('close', () => sockets.delete(remotePort))
  })
  const cut = () => {
    for (const socket of sockets.values()) socket.destroy()
  }
  return listen(server.server, at, { close: cut, cut })
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** Beyond the largest size the rest is read and forgotten. */
async function readMail(stream: SMTPServerDataStream): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes <= MAX_MAIL_BYTES) pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
