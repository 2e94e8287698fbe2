/** IP addresses as `ip` fields compare them: numbers of 128 bits, IPv4 addresses as IPv4-mapped IPv6. */
import { isIP } from 'node:net'

const MAPPED_V4 = 0xffffn << 32n

/** Undefined for what is no address; `fe80::1%eth0` is none. */
export function parseAddress(text: string): bigint | undefined {
  if (text.includes('%')) return undefined
  const version = isIP(text)
  if (version === 4) return MAPPED_V4 | v4Bits(text)
  return version === 6 ? v6Bits(text) : undefined
}

/** First and last address of `10.0.0.0/8`; undefined for what is no such block. */
export function parseAddressBlock(text: string): readonly [first: bigint, last: bigint] | undefined {
  const [address = '', length = '', ...rest] = text.split('/')
  const bits = parseAddress(address)
  const width = isIP(address) === 4 ? 32 : 128
  if (bits === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > width) return undefined
  const own = BigInt(width - Number(length))
  const first = (bits >> own) << own
  return [first, first | ((1n << own) - 1n)]
}

const v4Bits = (text: string): bigint => text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)

function v6Bits(text: string): bigint {
  const [head = '', tail] = text.split('::', 2)
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0n)
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | group, 0n)
}

/** Groups of 16 bits; an IPv4 address at the end is two. */
function groupsOf(text: string): readonly bigint[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)]
    const bits = v4Bits(group)
    return [bits >> 16n, bits & 0xffffn]
  })
}

/** The address as OpenSearch shows it: IPv4 where it is one, else the longest run of zeros as `::`. */
export function printAddress(bits: bigint): string {
  if (bits >> 32n === 0xffffn) return [24n, 16n, 8n, 0n].map(at => String((bits >> at) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, at) => ((bits >> BigInt(112 - 16 * at)) & 0xffffn).toString(16))
  const zeros = longestZeros(groups)
  if (zeros.length < 2) return groups.join(':')
  return `${groups.slice(0, zeros.start).join(':')}::${groups.slice(zeros.start + zeros.length).join(':')}`
}

function longestZeros(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start++) {
    let end = start
    while (groups[end] === '0') end++
    if (end - start > longest.length) longest = { start, length: end - start }
  }
  return longest
}
