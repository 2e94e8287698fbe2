/** Where an API server is and who we are there, as found by `find-access.ts`. */
import type { Impersonation } from './impersonation.ts'
import type { OidcConfig } from './oidc-login.ts'

export interface ClusterAccess {
  /** Such as `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string
  readonly tls: TlsConfig
  /** From the kubeconfig, else from the environment. */
  readonly proxyUrl?: string
  readonly auth: AuthConfig
  readonly impersonation?: Impersonation
  /** The namespace of the context, or of our own pod. */
  readonly namespace: string
  /** The same once more from the files as they are now, of the same context. Throws `KubeconfigError`. */
  readonly reread?: () => ClusterAccess
}

export interface TlsConfig {
  /** PEM; missing: the authorities that Node knows. */
  readonly ca?: string
  readonly serverName?: string
  readonly insecure: boolean
}

/** All given fields are used; a token and a certificate may stand together. */
export interface AuthConfig {
  readonly certificate?: Certificate
  readonly token?: string
  /** Read again once a minute: the kubelet replaces it. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
  readonly exec?: ExecConfig
  /** Tokens of an OpenID Connect issuer. */
  readonly oidc?: OidcConfig
}

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A program that hands out credentials (`client.authentication.k8s.io`). It is never asked interactively. */
export interface ExecConfig {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly installHint?: string
  /** The cluster as the program is told of it (`provideClusterInfo`), in the words of an `ExecCredential`. */
  readonly cluster?: Readonly<Record<string, unknown>>
}
