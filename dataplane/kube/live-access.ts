/** The way to the API server as its files have it now: kubeconfig, authorities, certificates and tokens are replaced while we run. */
import { type Clock, monotonicMs } from '../ports/clock.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { createCredentials, type ShownCredentials } from './credentials.ts'

export interface Way extends Pick<ClusterAccess, 'server' | 'tls' | 'proxyUrl' | 'impersonation'> {
  readonly shown: ShownCredentials
}

export interface LiveAccess {
  /** Throws when credentials cannot be had. */
  current(): Promise<Way>
  /** The API server could not be reached, perhaps since certificates were replaced: the next call looks at the files. */
  doubt(): void
  /** The API server did not accept the credentials: the next call looks at the files, and gets credentials anew. */
  reject(): void
}

/** How often files are looked at without a reason, and with one. */
const READ_MS = 60_000
const DOUBT_MS = 1000

export function createLiveAccess(initial: ClusterAccess, clock: Clock): LiveAccess {
  let access = initial
  let credentials = createCredentials(access.auth, clock)
  let readMs = monotonicMs(clock)
  let isInDoubt = false

  const read = (): void => {
    if (initial.reread === undefined || monotonicMs(clock) < readMs + (isInDoubt ? DOUBT_MS : READ_MS)) return
    readMs = monotonicMs(clock)
    isInDoubt = false
    const found = tryRead(initial.reread)
    // Objects of one cluster must never be written to another.
    if (found === undefined || found.server !== initial.server) return
    if (JSON.stringify(found.auth) !== JSON.stringify(access.auth)) credentials = createCredentials(found.auth, clock)
    access = found
  }

  return {
    async current() {
      read()
      const { server, tls, proxyUrl, impersonation } = access
      const shown = await credentials.current()
      return { server, tls, shown, ...(proxyUrl !== undefined && { proxyUrl }), ...(impersonation !== undefined && { impersonation }) }
    },
    doubt() {
      isInDoubt = true
    },
    reject() {
      isInDoubt = true
      credentials.reject()
    },
  }
}

/** Files may be seen half written, or gone for a moment. */
function tryRead(reread: () => ClusterAccess): ClusterAccess | undefined {
  try {
    return reread()
  } catch {
    return undefined
  }
}
