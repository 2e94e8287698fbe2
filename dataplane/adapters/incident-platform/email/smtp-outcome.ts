/** The outcome for the ticket of a failure of SMTP, as far as nodemailer tells. */
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { TargetRefused, TargetUnreachable } from '../../../ports/outbound-http.ts'
import { cutText, oneLine } from '../rendering/cut-text.ts'

const MAX_REASON = 300

type Failure = Exclude<TicketOutcome, { readonly kind: 'delivered' }>

export function outcomeOfSmtpError(error: unknown, isStopping: boolean): Failure {
  if (error instanceof TargetRefused) return { kind: 'rejected', reason: `E-mail: ${error.message}`, isTargetBroken: true }
  if (error instanceof TargetUnreachable)
    return { kind: 'retryable', reason: `The mail server does not answer: ${error.message}`, ...(!isStopping && { isTargetDown: true }) }
  const { message, code, responseCode } = readError(error)
  const reason = cutText(oneLine(`The mail server did not take the mail: ${message}`), MAX_REASON)
  // 4xx means "not now", 5xx "never". Where log-in, certificate or encryption fail, every mail fails.
  if (responseCode !== undefined && responseCode >= 500)
    return { kind: 'rejected', reason, ...(code === 'EAUTH' && { isTargetBroken: true }) }
  if (responseCode !== undefined && responseCode >= 400) return { kind: 'retryable', reason }
  if (code !== undefined && BROKEN.has(code)) return { kind: 'rejected', reason, isTargetBroken: true }
  if (code !== undefined && NEVER.has(code)) return { kind: 'rejected', reason }
  return { kind: 'retryable', reason, isAmbiguous: true, ...(!isStopping && { isTargetDown: true }) }
}

const BROKEN: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'ECONFIG', 'EOAUTH2'])
const NEVER: ReadonlySet<string> = new Set(['EENVELOPE', 'EMAXRECIPIENTS'])

function readError(error: unknown): { readonly message: string; readonly code?: string; readonly responseCode?: number } {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const responseCode = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined
  return { message: error.message, ...(code !== undefined && { code }), ...(responseCode !== undefined && { responseCode }) }
}
