/** Values and names that have broken programs like this one before. */
import type { SeededRandom } from './seeded-random.ts'

export const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'prototype',
  '',
  '.',
  '..',
  'a'.repeat(5_000),
  'ключ',
  '\u0000',
]

const ODD_TEXTS = [
  '',
  '\u0000',
  '\ud800',
  '😀'.repeat(50),
  'x'.repeat(20_000),
  '../../etc/passwd',
  "'; DROP TABLE x; --",
  '*',
  '(((((((((((((((((((('.repeat(20),
  '1e400',
  'NaN',
  '2026-13-45T99:99:99Z',
]

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
      return random.pick(ODD_TEXTS)
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

/** The bytes of a request with some of them changed, cut off, or repeated. */
export function mutateBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const copy = Buffer.from(bytes)
  for (let change = random.below(4); change >= 0 && copy.length > 0; change--) copy[random.below(copy.length)] = random.below(256)
  if (random.chance(0.3)) return copy.subarray(0, random.below(copy.length + 1))
  return random.chance(0.1) ? Buffer.concat([copy, copy]) : copy
}
