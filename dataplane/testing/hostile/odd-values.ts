/** Values and names that have broken programs like this one before. */
import type { SeededRandom } from './seeded-random.ts'

/** Names that objects have by themselves, and names that are hard to write. */
export const ODD_NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'length', 'then', 'toJSON'],
  ...['', '.', '..', 'a.', '.a', 'a..b', 'a.b', 'a_b', ' ', 'a b', '*', '?', '"', '\\', '\u0000', '\n', '\ufffd', 'ключ', '鍵', '🔑'],
  ...['x'.repeat(600), 'a'.repeat(5_000)],
]

export const ODD_TEXTS = [
  ...['', ' ', 'ok', 'null', 'true', '0', '-1', '1e400', 'NaN', '{}', '[]', '{"a":1}', '"', '\\', '\\u0000', '\u0000', '\u0007', '\n\r\t'],
  ...['\u2028\u2029', 'é', '漢字', '😀', '😀'.repeat(50), '\ud800', '\ufffd', '\ufeff', '\u202e', 'İ', 'ß', 'ﬁ', '\u0301'.repeat(40)],
  ...['<script>alert(1)</script>', "' OR 1=1 --", "'; DROP TABLE x; --", '%s%n', '../../etc/passwd', '(a+)+$', '*', '*'.repeat(300)],
  ...['a'.repeat(1_025), 'x'.repeat(20_000), 'word '.repeat(400), '('.repeat(400), '9999999999999999999999'],
  ...['2026-11-22T00:00:00Z', '2026-13-45T99:99:99Z'],
]

/** Texts of up to so many characters that are one part again and again. */
const MAX_RUN = 300_000
const RUN_PARTS = [
  ...['0', '9', '0.', '1e', '-', '.', ',', ' ', '\t', '\n', 'a', 'aA', '_', '1 ', '1:', '::', '/', '<', '{', '[', '"', '\\', '#', '@', '%'],
  ...['a.', 'a@', 'a=', '=', '-eyJabcd', '://', 'msg=', 'level=x ', 'at a(b)\n', 'error ', '2020-01-01 ', 'é', '😀', '\u0301'],
]

/** A reader that tries each place of it anew takes the square of its length. */
export function longRun(random: SeededRandom): string {
  const part = random.pick(RUN_PARTS)
  return part.repeat(Math.ceil(MAX_RUN / part.length)).slice(0, random.below(MAX_RUN)) + random.pick(['', 'x', '!'])
}

const ODD_NUMBERS = [0, -0, -1, 0.5, 1e308, -1e308, 5e-324, Number.MAX_SAFE_INTEGER + 2, 2 ** 31, 2 ** 32, 2 ** 63, 1e21]

/** One odd value; lists and objects hold few and shallow ones, apart from the occasional deep one. */
export function oddValue(random: SeededRandom): unknown {
  switch (random.below(9)) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
    case 3:
      return random.pick(ODD_NUMBERS)
    case 4:
    case 5:
      return random.chance(0.97) ? random.pick(ODD_TEXTS) : longRun(random)
    case 6:
      return Array.from({ length: random.below(20) }, () => random.pick(ODD_TEXTS))
    case 7:
      return JSON.parse(`{${JSON.stringify(random.pick(ODD_NAMES))}:1}`)
    default:
      return nested(random.pick([10, 99, 101, 2_000]), random.chance(0.5))
  }
}

function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = isList ? [value] : { a: value }
  return value
}

/** A copy with some members changed, removed, repeated or renamed; `rate` is the chance of each member. */
export function mutateJson(value: unknown, random: SeededRandom, rate = 0.15): unknown {
  if (random.chance(rate * 0.5)) return oddValue(random)
  if (Array.isArray(value)) return value.flatMap(item => mutateItem(item, random, rate))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (!random.chance(rate)) return [[name, mutateJson(member, random, rate)]]
    return random.chance(0.3) ? [] : [[random.chance(0.3) ? random.pick(ODD_NAMES) : name, oddValue(random)]]
  })
  return Object.fromEntries(entries)
}

function mutateItem(item: unknown, random: SeededRandom, rate: number): readonly unknown[] {
  if (!random.chance(rate)) return [mutateJson(item, random, rate)]
  return random.pick([[], [item, item], [oddValue(random)]])
}

/** Damage to the bytes of a request on their way, by its name. */
export const MANGLES: Readonly<Record<string, (random: SeededRandom, bytes: Buffer) => Buffer>> = {
  'cut off': (random, bytes) => bytes.subarray(0, random.below(bytes.length + 1)),
  'without its start': (random, bytes) => bytes.subarray(random.below(bytes.length + 1)),
  'with bytes changed': (random, bytes) => {
    const changed = Buffer.from(bytes)
    if (changed.length > 0) for (let i = random.mostlySmall(1, 20); i > 0; i--) changed[random.below(changed.length)] = random.below(256)
    return changed
  },
  'with bytes put in': (random, bytes) => {
    const at = random.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), random.bytes(random.mostlySmall(1, 30)), bytes.subarray(at)])
  },
  'with a part twice': (random, bytes) => {
    const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b) as [number, number]
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  },
  'twice in a row': (_random, bytes) => Buffer.concat([bytes, bytes]),
  'with a mark put in': (random, bytes) => {
    const at = random.below(bytes.length + 1)
    const mark = random.pick(['"', '{', '}', '[', ']', ',', ':', '\\', '\0', 'null', '\ud800', '1e5'])
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(mark), bytes.subarray(at)])
  },
}

/** The bytes of a request after one of `MANGLES`. */
export function mutateBytes(bytes: Buffer, random: SeededRandom): Buffer {
  return MANGLES[random.pick(Object.keys(MANGLES))]!(random, bytes)
}
