/** Which addresses may be spoken to: public ones, private ones where they are allowed, and those that never are. */
import { BlockList, isIP } from 'node:net'

export type AddressKind = 'public' | 'private' | 'never'

export interface AddressVerdict {
  readonly kind: AddressKind
  /** The kind of address, for people. */
  readonly what: string
}

type Range = readonly [subnet: string, kind: AddressKind, what: string]

/** IANA's special-purpose registries, and where clouds keep their metadata. The first match wins. */
const RANGES_4: readonly Range[] = [
  ['169.254.0.0/16', 'never', 'link-local, where clouds keep their metadata'],
  ['168.63.129.16/32', 'never', 'a metadata address of Azure'],
  ['100.100.100.200/32', 'never', 'a metadata address of Alibaba Cloud'],
  ['192.0.0.192/32', 'never', 'a metadata address of Oracle Cloud'],
  ['0.0.0.0/8', 'never', 'unspecified'],
  ['224.0.0.0/4', 'never', 'multicast'],
  ['240.0.0.0/4', 'never', 'reserved'],
  ['127.0.0.0/8', 'private', 'loopback'],
  ['10.0.0.0/8', 'private', 'private'],
  ['172.16.0.0/12', 'private', 'private'],
  ['192.168.0.0/16', 'private', 'private'],
  ['100.64.0.0/10', 'private', 'shared by customers of a provider'],
  ['192.0.0.0/24', 'private', 'reserved for protocols'],
  ['192.0.2.0/24', 'private', 'reserved for documentation'],
  ['198.51.100.0/24', 'private', 'reserved for documentation'],
  ['203.0.113.0/24', 'private', 'reserved for documentation'],
  ['198.18.0.0/15', 'private', 'reserved for benchmarks'],
  ['192.88.99.0/24', 'private', 'reserved for relays'],
  ['0.0.0.0/0', 'public', 'public'],
]
const RANGES_6: readonly Range[] = [
  ['fd00:ec2::/32', 'never', 'a metadata address of AWS'],
  ['fd20:ce::/32', 'never', 'a metadata address of Google Cloud'],
  ['fe80::/10', 'never', 'link-local'],
  ['ff00::/8', 'never', 'multicast'],
  ['::1/128', 'private', 'loopback'],
  ['fc00::/7', 'private', 'private'],
  ['fec0::/10', 'private', 'private'],
  ['2001::/32', 'never', 'a tunnel to an IPv4 address'],
  ['2002::/16', 'never', 'a tunnel to an IPv4 address'],
  ['2001::/23', 'private', 'reserved for protocols'],
  ['2001:db8::/32', 'private', 'reserved for documentation'],
  ['3fff::/20', 'private', 'reserved for documentation'],
  ['2000::/3', 'public', 'public'],
  ['::/0', 'never', 'reserved'],
]
/** IPv6 addresses that stand for the IPv4 address in their last 32 bits: mapped ones, and those of NAT64. */
const STANDS_FOR_4: readonly Range[] = [
  ['::ffff:0:0/96', 'public', 'mapped'],
  ['64:ff9b::/96', 'public', 'translated'],
]

interface Rule extends AddressVerdict {
  readonly list: BlockList
}

const rulesOf = (ranges: readonly Range[], family: 'ipv4' | 'ipv6'): readonly Rule[] =>
  ranges.map(([subnet, kind, what]) => {
    const [network = '', prefix] = subnet.split('/')
    const list = new BlockList()
    list.addSubnet(network, Number(prefix), family)
    return { list, kind, what }
  })
const RULES_4 = rulesOf(RANGES_4, 'ipv4')
const RULES_6 = rulesOf(RANGES_6, 'ipv6')
const EMBEDDING = rulesOf(STANDS_FOR_4, 'ipv6')

/** `address` as `net.isIP` takes it; anything else is never spoken to. */
export function judgeAddress(address: string): AddressVerdict {
  const plain = plainAddress(address)
  const family = isIP(plain)
  if (family === 0) return { kind: 'never', what: 'no address' }
  return family === 4 ? find(RULES_4, plain, 'ipv4') : find(RULES_6, plain, 'ipv6')
}

/** The one spelling of an address: IPv4 for those that stand for such, without a zone. */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  const spelled = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  return find(EMBEDDING, bare, 'ipv6').what === 'no address' ? spelled : lastFourBytes(spelled)
}

function find(rules: readonly Rule[], address: string, family: 'ipv4' | 'ipv6'): AddressVerdict {
  return rules.find(({ list }) => list.check(address, family)) ?? { kind: 'never', what: 'no address' }
}

/** `spelled` as by the WHATWG: groups of hex, no dots. */
function lastFourBytes(spelled: string): string {
  const [high = 0, low = 0] = spelled
    .split(':')
    .slice(-2)
    .map(group => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
