/** Servers of the product, which no target may be: a caller may do there what the port allows, in the name of every tenant. */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { judgeAddress, plainAddress } from './address-rules.ts'

export interface OwnServer {
  /** A name or an address, where the server listens or is reached. */
  readonly host: string
  readonly port: number
}

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

/** Listeners on them are at all addresses of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** Tells of an address whether one of the servers is there at this port. */
export async function ownAddresses(servers: readonly OwnServer[], port: number, lookup: Lookup): Promise<(address: string) => boolean> {
  const hosts = servers.filter(server => server.port === port).map(({ host }) => host.replace(/^\[|\]$/g, ''))
  if (hosts.length === 0) return () => false
  const found = await Promise.all(hosts.map(host => (isIP(host) === 0 ? lookup(host).catch(() => []) : [{ address: host }])))
  const own = new Set(found.flat().map(({ address }) => plainAddress(address)))
  const isOfMachine = addressesOfMachine()
  const isHere = [...own].some(address => ANY_ADDRESS.has(address) || isOfMachine(address))
  return address => own.has(plainAddress(address)) || (isHere && isOfMachine(plainAddress(address)))
}

/** `localhost` may be another address than the one that a server listens on: all of them lead to one machine. */
function addressesOfMachine(): (plain: string) => boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const addresses = new Set(interfaces.map(({ address }) => plainAddress(address)))
  return plain => addresses.has(plain) || judgeAddress(plain).what === 'loopback'
}
