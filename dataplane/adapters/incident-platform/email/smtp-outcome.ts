/** The outcome for the ticket of a failure of SMTP, as far as nodemailer tells. */
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { TargetRefused, TargetUnreachable } from '../../../ports/outbound-http.ts'
import { cutText, oneLine } from '../rendering/cut-text.ts'

const MAX_REASON = 300

type Failure = Exclude<TicketOutcome, { readonly kind: 'delivered' }>

/** `clean` takes the secrets out of the server's words, before these are cut. */
export function outcomeOfSmtpError(error: unknown, isStopping: boolean, clean: (text: string) => string = text => text): Failure {
  if (error instanceof TargetRefused) return { kind: 'rejected', reason: `E-mail: ${error.message}`, isTargetBroken: true }
  if (error instanceof TargetUnreachable)
    return { kind: 'retryable', reason: `The mail server does not answer: ${error.message}`, ...(!isStopping && { isTargetDown: true }) }
  const { message, code, responseCode } = readError(error)
  const reason = cutText(oneLine(clean(`The mail server did not take the mail: ${message}`)), MAX_REASON)
  // 4xx means "not now", 5xx "never": of this mail, or of every mail where greeting, log-in or encryption fail.
  const isOfMail = code !== undefined && OF_MAIL.has(code) && !NO_LOG_IN.has(responseCode ?? 0)
  if (responseCode !== undefined && responseCode >= 500) return { kind: 'rejected', reason, ...(!isOfMail && { isTargetBroken: true }) }
  if (responseCode !== undefined && responseCode >= 400)
    return { kind: 'retryable', reason, ...((!isOfMail || responseCode === CLOSING) && { isTargetDown: true }) }
  if (code !== undefined && BROKEN.has(code)) return { kind: 'rejected', reason, isTargetBroken: true }
  if (code !== undefined && NEVER.has(code)) return { kind: 'rejected', reason }
  return { kind: 'retryable', reason, isAmbiguous: true, ...(!isStopping && { isTargetDown: true }) }
}

/** The server judged sender, recipients or content of one mail. */
const OF_MAIL: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE'])
/** Log-in is missing, too weak, wrong, or needs encryption, also where a server says so only to the mail. Source: RFC 4954, 6. */
const NO_LOG_IN: ReadonlySet<number> = new Set([530, 534, 535, 538])
/** The server closes the connection. */
const CLOSING = 421
const BROKEN: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'ECONFIG', 'EOAUTH2'])
const NEVER: ReadonlySet<string> = new Set(['EENVELOPE', 'EMAXRECIPIENTS'])

function readError(error: unknown): { readonly message: string; readonly code?: string; readonly responseCode?: number } {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const responseCode = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined
  return { message: error.message, ...(code !== undefined && { code }), ...(responseCode !== undefined && { responseCode }) }
}
