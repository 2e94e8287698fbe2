/** E-mail over SMTP, with nodemailer. */
import type { Target } from '../../../domain/tickets/target.ts'
import type { IncidentPlatform, TicketOutcome } from '../../../ports/incident-platform.ts'
import type { OutboundAddresses } from '../../../ports/outbound-addresses.ts'
import { redact } from '../redact.ts'
import { field } from '../target-field.ts'
import { mailOf, threadTicket } from './mail.ts'
import { outcomeOfSmtpError } from './smtp-outcome.ts'
import { createSmtpPools } from './smtp-pools.ts'

export interface Email extends IncidentPlatform {
  close(): void
}

export function createEmail({ addresses }: { readonly addresses: OutboundAddresses }): Email {
  const pools = createSmtpPools(addresses)
  const withoutSecrets = (target: Target, text: string) => {
    const password = field(target, 'password') ?? ''
    return redact(text, [password, Buffer.from(password).toString('base64')])
  }
  return {
    async send(request, signal): Promise<TicketOutcome> {
      const { to, ...mail } = mailOf(request)
      if (to.length === 0)
        return { kind: 'rejected', reason: 'E-mail: expected at least one address in the field to, seen none', isTargetBroken: true }
      if (signal.aborted) return { kind: 'retryable', reason: 'E-mail: stopped before it was sent' }
      const message = { ...mail, to: [...to], headers: { ...mail.headers }, signal }
      try {
        const { rejected = [] } = await pools.use(request.target, async transport => await transport.sendMail(message))
        const refused = rejected.map(String)
        return {
          kind: 'delivered',
          ticket: threadTicket(request),
          ...(refused.length > 0 && { note: `the mail server refused some of the recipients: ${refused.join(', ')}` }),
        }
      } catch (error) {
        const outcome = outcomeOfSmtpError(error, signal.aborted)
        return { ...outcome, reason: withoutSecrets(request.target, outcome.reason) }
      }
    },

    /** Connects and logs in; sends no mail. */
    async test(target, signal) {
      try {
        await pools.use(target, transport => unlessAborted(transport.verify(), signal))
        return { ok: true, message: `The mail server ${field(target, 'host')} takes the log-in; no mail was sent` }
      } catch (error) {
        return { ok: false, message: withoutSecrets(target, outcomeOfSmtpError(error, signal.aborted).reason) }
      }
    },

    close: pools.close,
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('stopped'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
