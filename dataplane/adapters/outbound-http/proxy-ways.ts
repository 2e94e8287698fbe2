/** Ways to targets through the proxies that `HTTPS_PROXY` and `HTTP_PROXY` name. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { type ProxyEnvironment, proxyFor, proxyProblem, proxyVariable } from '../../http/proxy-choice.ts'
import type { OutboundAddresses } from '../../ports/outbound-addresses.ts'
import { TargetRefused } from '../../ports/outbound-http.ts'
import { type AtFirstUse, atFirstUse } from '../../process/at-first-use.ts'
import { portOf } from '../../text/port-of.ts'

/** A name may be looked up here for so long: networks with a proxy often know no names of others. */
const LOOK_UP_MS = 1_000

export interface ProxyWaysConfig {
  readonly proxies: ProxyEnvironment
  readonly addresses: OutboundAddresses
  /** Makes the dispatcher of a proxy. */
  open(proxyUrl: string): Promise<Dispatcher>
}

export interface ProxyWay {
  readonly dispatcher: Dispatcher
  /** Host and port of the proxy. */
  readonly proxy: string
}

export interface ProxyWays {
  /** Undefined: without a proxy. Rejects with `TargetRefused` for a name that leads to a forbidden address here, and for a proxy that is none. */
  to(target: URL): Promise<ProxyWay | undefined>
  close(): Promise<void>
}

export function createProxyWays({ proxies, addresses, open }: ProxyWaysConfig): ProxyWays {
  /** By the URL of the proxy: at most the two that the environment names. */
  const dispatchers = new Map<string, AtFirstUse<Dispatcher>>()
  const dispatcherOf = (proxyUrl: string) => {
    const known = dispatchers.get(proxyUrl) ?? atFirstUse(() => open(proxyUrl))
    dispatchers.set(proxyUrl, known)
    return known.open()
  }
  /** The proxy looks the name up for itself, and has rules of its own. A name that is known here must not lead where nobody may speak to. */
  const refuseForbidden = async (target: URL) => {
    const known = addresses.resolve(target.hostname, portOf(target)).catch(error => {
      if (error instanceof TargetRefused) throw error
    })
    const late = new AbortController()
    try {
      await Promise.race([known, sleep(LOOK_UP_MS, undefined, { signal: late.signal })])
    } finally {
      late.abort()
      known.catch(() => undefined)
    }
  }
  return {
    async to(target) {
      const proxyUrl = proxyFor(target.origin, proxies)
      if (proxyUrl === undefined) return undefined
      const problem = proxyProblem(proxyUrl, proxyVariable(target.origin))
      if (problem !== undefined) throw new TargetRefused(problem)
      await refuseForbidden(target)
      return { dispatcher: await dispatcherOf(proxyUrl), proxy: new URL(proxyUrl).host }
    },
    async close() {
      await Promise.all([...dispatchers.values()].map(each => each.close(dispatcher => dispatcher.destroy())))
    },
  }
}
