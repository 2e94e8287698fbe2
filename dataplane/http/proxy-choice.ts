/** Which proxy a request goes through, by the environment: as Go's `httpproxy` reads it, and so kubectl. */
import { BlockList, isIP } from 'node:net'
import { portOf } from '../text/port-of.ts'

/** Where both spellings are set, the one in capitals counts. */
export interface ProxyEnvironment {
  readonly HTTPS_PROXY?: string | undefined
  readonly https_proxy?: string | undefined
  readonly HTTP_PROXY?: string | undefined
  readonly http_proxy?: string | undefined
  /** Names, addresses and CIDR blocks, separated by commas; `*` is everything. */
  readonly NO_PROXY?: string | undefined
  readonly no_proxy?: string | undefined
}

/** The variables as this process has them; they are no settings of ours. */
export function proxyEnvironment(): ProxyEnvironment {
  const { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy } = process.env
  return { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy }
}

/** The variable that names the proxy for a server. */
export function proxyVariable(server: string): 'HTTPS_PROXY' | 'HTTP_PROXY' {
  return new URL(server).protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
}

/** Says that no proxy can be asked at the URL, which `where` holds; undefined where one can. The URL is not told: a password may be in it. */
export function proxyProblem(proxyUrl: string, where: string): string | undefined {
  const { protocol, hostname } = URL.canParse(proxyUrl) ? new URL(proxyUrl) : { protocol: '', hostname: '' }
  if (PROTOCOLS.includes(protocol) && hostname !== '') return undefined
  return `${where}: expected the URL of a proxy such as http://proxy:3128, of http, https or socks5, seen something else`
}

const PROTOCOLS = ['http:', 'https:', 'socks5:']

/** URL of the proxy for a server; undefined: none. Nothing on this machine is asked through a proxy. */
export function proxyFor(server: string, environment: ProxyEnvironment): string | undefined {
  const url = new URL(server)
  const { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy } = environment
  const proxy = proxyVariable(server) === 'HTTPS_PROXY' ? HTTPS_PROXY || https_proxy : HTTP_PROXY || http_proxy
  if (!proxy) return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const target: Target = { host, port: String(portOf(url)), family: familyOf(host) }
  if (host === 'localhost' || isWithin(target, LOOPBACK)) return undefined
  const exceptions = (environment.NO_PROXY || environment.no_proxy || '').split(',').map(text => text.trim().toLowerCase())
  if (exceptions.some(text => text !== '' && matches(text, target))) return undefined
  return /^[a-z0-9+.-]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

interface Target {
  readonly host: string
  readonly port: string
  /** Undefined: the host is a name. */
  readonly family: 'ipv4' | 'ipv6' | undefined
}

const LOOPBACK: readonly (readonly [address: string, prefix: number])[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
]

function matches(exception: string, target: Target): boolean {
  if (exception === '*') return true
  const [, address = '', prefix] = /^([^/]+)\/(\d+)$/.exec(exception) ?? []
  if (prefix !== undefined) return familyOf(address) !== undefined && isWithin(target, [[address, Number(prefix)]])
  const { host, port } = splitPort(exception)
  if (port !== '' && port !== target.port) return false
  if (familyOf(host) !== undefined) return isWithin(target, [[host, familyOf(host) === 'ipv4' ? 32 : 128]])
  const name = host.replace(/^\*(?=\.)/, '')
  if (name === '' || name === '.') return false
  return name.startsWith('.') ? target.host.endsWith(name) : target.host === name || target.host.endsWith(`.${name}`)
}

function splitPort(text: string): { readonly host: string; readonly port: string } {
  const [, bracketed, plain, port = ''] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  // Several colons without brackets: an IPv6 address.
  return { host: bracketed ?? plain ?? text, port }
}

function isWithin({ host, family }: Target, blocks: readonly (readonly [string, number])[]): boolean {
  if (family === undefined) return false
  const list = new BlockList()
  for (const [address, prefix] of blocks) {
    const of = familyOf(address)
    if (of !== undefined && prefix <= (of === 'ipv4' ? 32 : 128)) list.addSubnet(address, prefix, of)
  }
  return list.check(host, family)
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  return ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(address)]
}
