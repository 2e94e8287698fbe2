import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { OutboundAddress, OutboundAddresses } from '../../ports/outbound-addresses.ts'
import { TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { judgeAddress } from './address-rules.ts'

export interface OutboundAddressesConfig {
  /** Loopback and private networks, too. */
  readonly allowPrivate: boolean
  /** For tests. Default: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>
}

export function createOutboundAddresses({
  allowPrivate,
  lookup = host => systemLookup(host, { all: true }),
}: OutboundAddressesConfig): OutboundAddresses {
  return {
    async resolve(host) {
      const found = isIP(host) === 0 ? await ask(lookup, host) : [{ address: host, family: isIP(host) }]
      // One forbidden address among several refuses the host: nobody has an honest reason to mix them.
      return found.map(each => checked(host, each, allowPrivate))
    },
  }
}

async function ask(lookup: NonNullable<OutboundAddressesConfig['lookup']>, host: string) {
  const found = await lookup(host).catch((error: NodeJS.ErrnoException) => {
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
    throw new TargetRefused(`${name} may not be spoken to: the address is not public (${what}); ALLOW_PRIVATE_TARGETS=true allows it`)
  return { address, family: family === 6 ? 6 : 4, isPublic: kind === 'public' }
}
