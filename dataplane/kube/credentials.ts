/** The credentials that each request shows to the API server, kept fresh. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { basicAuthorization } from '../http/basic-authorization.ts'
import type { Clock } from '../ports/clock.ts'
import type { AuthConfig, Certificate, ExecConfig } from './cluster-access.ts'
import { createOidcLogin } from './oidc-login.ts'

export interface ShownCredentials {
  readonly authorization?: string
  readonly certificate?: Certificate
}

export interface Credentials {
  /** Throws when they cannot be had. */
  current(): Promise<ShownCredentials>
  /** The API server did not accept them: the next call gets them anew. */
  reject(): void
}

/** Runs the program; resolves to its output. */
export type RunExec = (exec: ExecConfig) => Promise<string>

const TOKEN_FILE_MS = 60_000
const EXEC_TIMEOUT_MS = 30_000
/** Credentials are replaced this long before they end. */
const AHEAD_MS = 30_000

export function createCredentials(auth: AuthConfig, clock: Clock, runExec: RunExec = runExecCommand): Credentials {
  let known: { readonly shown: ShownCredentials; readonly untilMs: number } | undefined
  let asking: Promise<ShownCredentials> | undefined

  const oidc = auth.oidc === undefined ? undefined : createOidcLogin(auth.oidc, clock)

  const ask = async () => {
    if (auth.exec !== undefined) return parseExecCredential(await runExec(auth.exec), auth.exec.command)
    if (oidc !== undefined) {
      const { token, endsMs } = await oidc()
      return { shown: { authorization: `Bearer ${token}` }, untilMs: endsMs - AHEAD_MS }
    }
    const certificate = auth.certificate === undefined ? {} : { certificate: auth.certificate }
    if (auth.tokenFile === undefined) return { shown: { ...certificate, ...fixedAuthorization(auth) }, untilMs: Number.POSITIVE_INFINITY }
    const token = (await readFile(auth.tokenFile, 'utf8')).trim()
    return { shown: { ...certificate, authorization: `Bearer ${token}` }, untilMs: clock.nowMs() + TOKEN_FILE_MS }
  }

  const load = async (): Promise<ShownCredentials> => {
    known = await ask()
    return known.shown
  }

  return {
    current() {
      if (known !== undefined && clock.nowMs() < known.untilMs) return Promise.resolve(known.shown)
      asking ??= load().finally(() => {
        asking = undefined
      })
      return asking
    },
    reject() {
      known = undefined
    },
  }
}

function fixedAuthorization({ token, basic }: AuthConfig): ShownCredentials {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (basic === undefined) return {}
  return { authorization: basicAuthorization(basic.username, basic.password) }
}

interface ExecCredential {
  readonly status?: {
    readonly token?: string
    readonly clientCertificateData?: string
    readonly clientKeyData?: string
    readonly expirationTimestamp?: string
  }
}

/** `ExecCredential` of `client.authentication.k8s.io`. */
function parseExecCredential(output: string, command: string): { readonly shown: ShownCredentials; readonly untilMs: number } {
  let status: ExecCredential['status']
  try {
    status = (JSON.parse(output) as ExecCredential).status
  } catch (error) {
    throw new Error(`kubeconfig: exec ${command}: expected an ExecCredential as JSON, seen something else`, { cause: error })
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status ?? {}
  if (token === undefined && (cert === undefined || key === undefined))
    throw new Error(`kubeconfig: exec ${command}: expected status.token or a client certificate with its key, found neither`)
  const endsMs = expirationTimestamp === undefined ? Number.NaN : Date.parse(expirationTimestamp)
  return {
    shown: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
    },
    untilMs: Number.isNaN(endsMs) ? Number.POSITIVE_INFINITY : endsMs - AHEAD_MS,
  }
}

async function runExecCommand({ apiVersion, command, args, env, installHint, cluster }: ExecConfig) {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster !== undefined && { cluster }) } }
  try {
    const running = promisify(execFile)(command, [...args], {
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: EXEC_TIMEOUT_MS,
      maxBuffer: 1 << 20,
    })
    // The program gets an empty input: there is no terminal.
    running.child.stdin?.end()
    return (await running).stdout
  } catch (error) {
    const hint = installHint === undefined ? '' : `\n${installHint}`
    throw new Error(`kubeconfig: exec ${command} failed: ${(error as Error).message}${hint}`, { cause: error })
  }
}
