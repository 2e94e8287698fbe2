/** The log-in with user and password, where the mail server offers one. */

/** The part of what nodemailer gives to an authentication of ours. */
interface AuthContext {
  readonly auth: { readonly credentials: { readonly user: string; readonly pass: string } }
  /** Methods that the server offers; none after a STARTTLS that failed, so that no password goes out in the clear then. */
  readonly authMethods: readonly string[]
  sendCommand(command: string): Promise<{ readonly status: number }>
}

const NO_LOG_IN_OFFERED =
  'it offers no log-in by user and password: remove the fields user and password where it takes mails without, else set port and secure to where it does'

/**
 * Options of one connection. nodemailer would send mails without a log-in where none is offered, and say nothing. `isRequired`: the connection fails instead.
 * `onLogIn` is told whether user and password are used.
 */
export function logInOptions(isRequired: boolean, onLogIn: (isUsed: boolean) => void) {
  const logIn = async ({ auth, authMethods, sendCommand }: AuthContext) => {
    const isOffered = authMethods.length > 0
    onLogIn(isOffered)
    if (!isOffered && isRequired) throw new Error(NO_LOG_IN_OFFERED)
    if (!isOffered) return
    const { user, pass } = auth.credentials
    const { status } = await sendCommand(`AUTH PLAIN ${Buffer.from(`\0${user}\0${pass}`).toString('base64')}`)
    if (status < 200 || status >= 300) throw new Error('Invalid login')
  }
  // PLAIN is what nodemailer falls back to where it knows none of what is offered.
  return { forceAuth: true, customAuth: { PLAIN: logIn } }
}
