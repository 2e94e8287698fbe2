/** `auth-provider: oidc` of a kubeconfig. The library is loaded by the first login that needs the issuer. */
import { Agent, fetch } from 'undici'
import type { Clock } from '../ports/clock.ts'

/** `auth-provider.config` of a kubeconfig, in its words (`id-token`, `idp-issuer-url` …). */
export type OidcConfig = Readonly<Record<string, string>>

export interface OidcToken {
  readonly token: string
  /** When the token ends, ms since the epoch; infinite where it does not say. */
  readonly endsMs: number
}

/** Time for one login: finding the issuer, and asking it. */
const LOGIN_MS = 30_000
/** A token that ends this soon is replaced, where there is something to get another with. */
const AHEAD_MS = 30_000

/**
 * The function resolves to the token of the kubeconfig, and shortly before that ends to another from the issuer. A refresh token that the issuer replaces
 * is remembered; the kubeconfig is not written. Rejects when there is no token to be had, or no answer within 30 s.
 */
export function createOidcLogin(given: OidcConfig, clock: Clock): () => Promise<OidcToken> {
  let refreshToken = given['refresh-token']
  let known = given['id-token'] === undefined ? undefined : readToken(given['id-token'])

  const refresh = async (signal: AbortSignal): Promise<OidcToken> => {
    const { 'idp-issuer-url': issuer, 'client-id': client } = given
    if (refreshToken === undefined || issuer === undefined || client === undefined)
      throw new Error('id-token has ended: expected refresh-token, client-id and idp-issuer-url to get another')
    const tokens = await askIssuer({ ...given, issuer, client, refreshToken }, signal)
    if (tokens.id_token === undefined) throw new Error(`${issuer} answered without an id_token`)
    // An issuer that hands out no other refresh token means the old one to be used again.
    refreshToken = tokens.refresh_token ?? refreshToken
    return readToken(tokens.id_token)
  }

  return async () => {
    const aheadMs = refreshToken === undefined ? 0 : AHEAD_MS
    if (known !== undefined && clock.nowMs() < known.endsMs - aheadMs) return known
    const done = new AbortController()
    const late = clock.sleep(LOGIN_MS, done.signal).then(() => undefined)
    try {
      known = await Promise.race([refresh(done.signal), late])
      if (known === undefined) throw new Error(`${given['idp-issuer-url']} does not answer within ${LOGIN_MS / 1000} s`)
      return known
    } catch (error) {
      throw new Error(`kubeconfig: auth-provider oidc: ${explain(error)}`, { cause: error })
    } finally {
      done.abort()
    }
  }
}

interface Asked extends OidcConfig {
  readonly issuer: string
  readonly client: string
  readonly refreshToken: string
}

async function askIssuer({ issuer, client, refreshToken, ...config }: Asked, signal: AbortSignal) {
  const { ClientSecretBasic, customFetch, discovery, refreshTokenGrant } = await import('openid-client')
  const { 'client-secret': secret, 'idp-certificate-authority-data': ca } = config
  const dispatcher = new Agent({ connect: ca === undefined ? {} : { ca: Buffer.from(ca, 'base64').toString() } })
  const send = (url: string, options: object) => fetch(url, { ...options, signal, dispatcher }) as unknown as Promise<Response>
  try {
    const authentication = secret === undefined ? undefined : ClientSecretBasic(secret)
    const server = await discovery(new URL(issuer), client, undefined, authentication, { [customFetch]: send })
    return await refreshTokenGrant(server, refreshToken)
  } finally {
    await dispatcher.destroy()
  }
}

/** The library's message names the kind of failure; what the issuer or the network said stands beside or behind it. */
function explain(error: unknown): string {
  const { message, error_description: said, cause } = error as Error & { readonly error_description?: string }
  return said ?? (cause instanceof Error ? `${message}: ${explain(cause)}` : message)
}

/** By the claim `exp`, which the API server checks. */
function readToken(token: string): OidcToken {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly exp?: number }
    return { token, endsMs: exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000 }
  } catch {
    return { token, endsMs: 0 }
  }
}
