/** Addresses of hosts that users configured, each held against the rules of whom the product may speak to. */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ALLOWED_BY } from '../../contract/private-targets.ts'
import type { OutboundAddress, OutboundAddresses } from '../../ports/outbound-addresses.ts'
import { TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { judgeAddress } from './address-rules.ts'
import { createFairLookup, type Lookup } from './fair-lookup.ts'
import { type OwnServer, ownAddresses } from './own-servers.ts'

export interface OutboundAddressesConfig {
  /** Loopback and private networks, too. */
  readonly allowPrivate: boolean
  /** Servers of the product: each believes its callers, so users may not speak to them through the product. Default: none. */
  readonly ownServers?: readonly OwnServer[]
  /** For tests. Default: the system's resolver. */
  readonly lookup?: Lookup
}

export function createOutboundAddresses({
  allowPrivate,
  ownServers = [],
  lookup: anyLookup = host => systemLookup(host, { all: true }),
}: OutboundAddressesConfig): OutboundAddresses {
  const lookup = createFairLookup(anyLookup)
  return {
    async resolve(host, port) {
      const found = isIP(host) === 0 ? await ask(lookup, host) : [{ address: host, family: isIP(host) }]
      // One forbidden address among several refuses the host: nobody has an honest reason to mix them.
      const addresses = found.map(each => checked(host, each, allowPrivate))
      const isOwn = await ownAddresses(ownServers, port, lookup)
      if (addresses.some(({ address }) => isOwn(address)))
        throw new TargetRefused(`${host}:${port} may not be spoken to: it is a port of logpipeline itself`)
      return addresses
    },
  }
}

/**
 * For those who store a host: the address that is expected instead, where the text of the host shows that nobody may speak to it. Undefined for addresses
 * that may be spoken to, and for names, which are looked up when somebody connects.
 */
export function expectedInsteadOf(host: string, { allowPrivate }: Pick<OutboundAddressesConfig, 'allowPrivate'>): string | undefined {
  const address = /^(?:.*\.)?localhost\.?$/i.test(host) ? '127.0.0.1' : host
  if (isIP(address) === 0) return undefined
  const { kind, what } = judgeAddress(address)
  if (kind === 'never') return `a public address, none that is ${what}`
  return kind === 'private' && !allowPrivate ? `a public address (one that is ${what} needs ${ALLOWED_BY})` : undefined
}

async function ask(lookup: Lookup, host: string) {
  const found = await lookup(host).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof TargetUnreachable) throw error
    throw new TargetUnreachable(`the name ${host} cannot be resolved (${error.code ?? error.message})`, false, { cause: error })
  })
  if (found.length === 0) throw new TargetUnreachable(`the name ${host} has no address`, false)
  return found
}

function checked(host: string, { address, family }: { address: string; family: number }, allowPrivate: boolean): OutboundAddress {
  const { kind, what } = judgeAddress(address)
  const name = host === address ? address : `${host} (${address})`
  if (kind === 'never') throw new TargetRefused(`${name} may not be spoken to: the address is ${what}`)
  if (kind === 'private' && !allowPrivate)
    throw new TargetRefused(`${name} may not be spoken to: the address is not public (${what}); ${ALLOWED_BY} allows it`)
  return { address, family: family === 6 ? 6 : 4, isPublic: kind === 'public' }
}
