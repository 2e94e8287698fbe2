/** The outcome for the ticket of a failure of SMTP, as far as nodemailer tells. */
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { TargetRefused, TargetUnreachable } from '../../../ports/outbound-http.ts'
import { certificateProblem } from '../../../text/certificate-problem.ts'
import { cutText, oneLine } from '../rendering/cut-text.ts'

const MAX_REASON = 300

type Failure = Exclude<TicketOutcome, { readonly kind: 'delivered' }>

export interface SmtpAttempt {
  /** The attempt was cut short. */
  readonly isStopping: boolean
  /** To recipients that were put off before, while others got the mail. */
  readonly isRest?: boolean
  /** Takes the secrets out of the server's words, before these are cut. */
  readonly clean: (text: string) => string
}

export function outcomeOfSmtpError(error: unknown, { isStopping, isRest = false, clean }: SmtpAttempt): Failure {
  if (error instanceof TargetRefused) return { kind: 'rejected', reason: `E-mail: ${error.message}`, isTargetBroken: true }
  if (error instanceof TargetUnreachable)
    return { kind: 'retryable', reason: `The mail server does not answer: ${error.message}`, ...(!isStopping && { isTargetDown: true }) }
  const failure = readError(error)
  const { message, code, responseCode } = failure
  const isTooEarly = BEFORE_ANY_COMMAND.test(message)
  const refused = code === 'ESOCKET' ? (certificateProblem(message) ?? (SPEAKS_NO_TLS.test(message) ? NO_TLS : undefined)) : undefined
  const words = refused ?? (isTooEarly ? NO_GREETING : message)
  const reason = cutText(oneLine(clean(`The mail server did not take the mail: ${words}`)), MAX_REASON)
  if (refused !== undefined) return { kind: 'rejected', reason, isTargetBroken: true }
  if (responseCode !== undefined && responseCode >= 400) return outcomeOfReply({ ...failure, responseCode }, reason, isRest)
  if (code !== undefined && BROKEN.has(code)) return { kind: 'rejected', reason, isTargetBroken: true }
  if (code !== undefined && NEVER.has(code)) return { kind: 'rejected', reason }
  return { kind: 'retryable', reason, ...(!isTooEarly && { isAmbiguous: true }), ...(!isStopping && { isTargetDown: true }) }
}

/** 4xx means "not now", 5xx "never": of this mail, or of every mail where greeting, log-in, encryption, sender or all recipients are refused. */
function outcomeOfReply(
  { code, command, responseCode }: SmtpError & { readonly responseCode: number },
  reason: string,
  isRest: boolean,
): Failure {
  const isOfMail = code !== undefined && OF_MAIL.has(code) && !NO_LOG_IN.has(responseCode)
  if (responseCode < 500) return { kind: 'retryable', reason, ...((!isOfMail || responseCode === CLOSING) && { isTargetDown: true }) }
  const isOfSettings = command !== undefined && ENVELOPE.has(command) && responseCode !== TOO_LARGE && !isRest
  return { kind: 'rejected', reason, ...((!isOfMail || isOfSettings) && { isTargetBroken: true, untilChanged: true }) }
}

/** The server judged sender, recipients or content of one mail. */
const OF_MAIL: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE'])
/** Log-in is missing, too weak, wrong, or needs encryption, also where a server says so only to the mail. Source: RFC 4954, 6. */
const NO_LOG_IN: ReadonlySet<number> = new Set([530, 534, 535, 538])
/** Sender and recipients are the same for every mail of a target. */
const ENVELOPE: ReadonlySet<string> = new Set(['MAIL FROM', 'RCPT TO'])
/** The mail is larger than the server takes. Source: RFC 1870, 6.2. */
const TOO_LARGE = 552
/** The one hint of nodemailer that the time ran out before the server spoke at all. */
const BEFORE_ANY_COMMAND = /^Greeting never received/
const NO_GREETING = 'it says nothing: a port for TLS from the first byte, such as 465, needs the field secure'
/** Words of OpenSSL for an answer in plain text. */
const SPEAKS_NO_TLS = /wrong version number|packet length too long/
const NO_TLS = 'it does not speak TLS from the first byte: set the field secure to false, or the port to one where it does, such as 465'
/** The server closes the connection. */
const CLOSING = 421
const BROKEN: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'ECONFIG', 'EOAUTH2'])
const NEVER: ReadonlySet<string> = new Set(['EENVELOPE', 'EMAXRECIPIENTS'])

interface SmtpError {
  readonly message: string
  readonly code?: string
  /** The command that was answered. */
  readonly command?: string
  readonly responseCode?: number
}

function readError(error: unknown): SmtpError {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const command = 'command' in error && typeof error.command === 'string' ? error.command : undefined
  const responseCode = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined
  return {
    message: error.message,
    ...(code !== undefined && { code }),
    ...(command !== undefined && { command }),
    ...(responseCode !== undefined && { responseCode }),
  }
}
