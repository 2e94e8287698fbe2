/** E-mail over SMTP, with nodemailer. */
import { secretsOfTarget } from '../../../domain/tickets/configured-secrets.ts'
import { redact } from '../../../domain/tickets/redact.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import type { IncidentPlatform, TicketOutcome } from '../../../ports/incident-platform.ts'
import type { OutboundAddresses } from '../../../ports/outbound-addresses.ts'
import { NOT_NOTED } from '../http-platform.ts'
import { oneLine } from '../rendering/cut-text.ts'
import { field } from '../target-field.ts'
import { isAddressOf, mailOf, threadTicket } from './mail.ts'
import { outcomeOfSmtpError } from './smtp-outcome.ts'
import { createSmtpPools } from './smtp-pools.ts'

type Delivered = Extract<TicketOutcome, { kind: 'delivered' }>

export interface Email extends IncidentPlatform {
  close(): void
}

export function createEmail({ addresses }: { readonly addresses: OutboundAddresses }): Email {
  const pools = createSmtpPools(addresses)
  const withoutSecrets =
    (target: Target, further: readonly string[] = []) =>
    (text: string) =>
      redact(text, [...secretsOfTarget(target), ...logInsOf(target), ...further])
  return {
    async send(request, signal): Promise<TicketOutcome> {
      const { to, ...mail } = mailOf(request)
      // Recipients that were put off are no longer among those of the target.
      if (to.length === 0 && request.only !== undefined) return { kind: 'delivered' }
      if (to.length === 0)
        return { kind: 'rejected', reason: 'E-mail: expected at least one address in the field to, seen none', isTargetBroken: true }
      if (signal.aborted) return { kind: 'retryable', reason: 'E-mail: stopped before it was sent' }
      if (!((await request.beforeWriting?.()) ?? true)) return { kind: 'retryable', reason: NOT_NOTED }
      const message = { ...mail, to: [...to], headers: { ...mail.headers }, signal }
      try {
        const [answer, isWithoutLogIn] = await pools.use(request.target, async pool => [
          await pool.transport.sendMail(message),
          pool.isWithoutLogIn,
        ])
        const { note, ...told } = refusalsIn(answer, withoutSecrets(request.target, request.secrets))
        const notes = [...(isWithoutLogIn ? [WITHOUT_LOG_IN] : []), ...(note === undefined ? [] : [note])]
        return { kind: 'delivered', ticket: threadTicket(request), ...told, ...(notes.length > 0 && { note: notes.join('; ') }) }
      } catch (error) {
        const clean = withoutSecrets(request.target, request.secrets)
        return outcomeOfSmtpError(error, { isStopping: signal.aborted, isRest: request.only !== undefined, clean })
      }
    },

    /** Connects and logs in; sends no mail. */
    async test(target, signal, secrets) {
      try {
        const isWithoutLogIn = await pools.use(target, async pool => {
          await unlessAborted(pool.transport.verify(), signal)
          return pool.isWithoutLogIn
        })
        const usual = field(target, 'user') === undefined ? 'answers' : 'takes the log-in'
        const does = isWithoutLogIn ? 'answers, offers no log-in, and is not told the user and password' : usual
        return { ok: true, message: `The mail server ${field(target, 'host')} ${does}; no mail was sent` }
      } catch (error) {
        return {
          ok: false,
          message: outcomeOfSmtpError(error, { isStopping: signal.aborted, clean: withoutSecrets(target, secrets) }).reason,
        }
      }
    },

    close: pools.close,
  }
}

const WITHOUT_LOG_IN = 'sent without the user and password, as the mail server offers no log-in'

/** The part of nodemailer's result that tells of recipients. */
interface Answer {
  readonly rejected?: readonly unknown[]
  readonly rejectedErrors?:
    | readonly { readonly message: string; readonly responseCode?: number | undefined; readonly recipient?: string | undefined }[]
    | undefined
}

/** Recipients that the server refused while it took the mail for others: for good, or for now (4xx). */
function refusalsIn(
  { rejected = [], rejectedErrors = [] }: Answer,
  clean: (text: string) => string,
): Pick<Delivered, 'note' | 'unreached'> {
  const refused = rejected.map(String)
  if (refused.length === 0) return {}
  const putOff = rejectedErrors.filter(({ responseCode = 500 }) => responseCode < 500)
  const unreached = refused.filter(address => putOff.some(({ recipient = '' }) => isAddressOf(recipient, address)))
  const lost = refused.filter(address => !unreached.includes(address))
  const notes = [
    ...(lost.length === 0 ? [] : [`the mail server refused some of the recipients: ${lost.join(', ')}`]),
    ...(unreached.length === 0 ? [] : [`the mail server put off some of the recipients, who are told again: ${unreached.join(', ')}`]),
    ...(putOff[0] === undefined ? [] : [oneLine(putOff[0].message)]),
  ]
  return { note: clean(notes.join('; ')), ...(unreached.length > 0 && { unreached }) }
}

/** The password as `AUTH LOGIN` and `AUTH PLAIN` send it. */
function logInsOf(target: Target): readonly string[] {
  const password = field(target, 'password')
  if (password === undefined) return []
  return [password, `\0${field(target, 'user') ?? ''}\0${password}`].map(text => Buffer.from(text).toString('base64'))
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('stopped'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
