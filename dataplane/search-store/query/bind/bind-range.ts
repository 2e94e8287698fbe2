/** Ranges over numbers, dates and texts. */

import { normalized } from '../../analysis/normalizers.ts'
import { textRangePattern } from '../../analysis/term-pattern.ts'
import { failedToCreate, notABoolean, notANumber } from '../../api-error.ts'
import { parseDateFormat } from '../../dates/date-format.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { parseTimeZone } from '../../dates/time-zone.ts'
import type { FieldType } from '../../mapping/field-types.ts'
import { parseAddress, parseAddressBlock } from '../../mapping/ip-address.ts'
import { fitsType } from '../../mapping/values.ts'
import type { FieldQuery, RangeBounds, Scalar } from '../parse/query.ts'
import { anyOf, type BindContext, type Condition, type ExactRange, NONE, type NumberRange } from './condition.ts'
import { classOf, exactNamed, type Field, formatOf, isExact, isLarge, NANOS_PER_MS, nanosOf } from './field.ts'

export function bindRange(query: Extract<FieldQuery, { kind: 'range' }>, field: Field, context: BindContext): Condition {
  switch (classOf(field)) {
    case 'date':
      return dateRange(query.bounds, field, context)
    case 'number':
      return numberRange(query.bounds, field)
    case 'boolean':
      return booleanRange(query.bounds, field)
    default:
      return field.isAddress ? addressRange(query.bounds, field) : textRange(query.bounds, field)
  }
}

/** `lte` and `gt` take the last instant of the date that they name, so that a day means the whole day. */
export function dateRange(bounds: RangeBounds, field: Field, context: BindContext): Condition {
  const zone = bounds.timeZone === undefined ? undefined : parseTimeZone(bounds.timeZone)
  const format = bounds.format === undefined ? formatOf(field) : parseDateFormat(bounds.format)
  const resolve = (value: Scalar, roundUp: boolean): number =>
    parseDateMath(String(value), {
      nowMs: context.nowMs,
      roundUp,
      format,
      ...(zone !== undefined && { zone }),
    })
  const min = bounds.gt === undefined ? (bounds.gte === undefined ? undefined : resolve(bounds.gte, false)) : resolve(bounds.gt, true)
  const max = bounds.lt === undefined ? (bounds.lte === undefined ? undefined : resolve(bounds.lte, true)) : resolve(bounds.lt, false)
  if (!field.hasNanos) return rangeOf(field, bounds, min, max)
  /** A bound in nanoseconds. A text's fraction counts to the nanosecond; a text that was rounded up includes its whole last millisecond. */
  const nanos = (value: Scalar | undefined, ms: number | undefined, isUpper: boolean): bigint | undefined => {
    if (value === undefined || ms === undefined) return undefined
    const isRounded = isUpper && ms !== resolve(value, false)
    return nanosOf(value, ms) + (isRounded ? NANOS_PER_MS - 1n : 0n)
  }
  return nanosRange(field, {
    min: nanos(bounds.gt ?? bounds.gte, min, bounds.gt !== undefined),
    max: nanos(bounds.lt ?? bounds.lte, max, bounds.lt === undefined),
    includeMin: bounds.gt === undefined,
    includeMax: bounds.lt === undefined,
  })
}

/** Documents of the first and the last millisecond are looked at; those between are known by their milliseconds. */
function nanosRange(field: Field, exact: ExactRange): Condition {
  if (exact.min === undefined && exact.max === undefined) return { op: 'exists', field }
  const [first, last] = [exact.min, exact.max].map(nanos => (nanos === undefined ? undefined : Number(nanos / NANOS_PER_MS)))
  const edge = (ms: number | undefined): readonly Condition[] =>
    ms === undefined ? [] : [{ op: 'range', field, range: { min: ms, max: ms, includeMin: true, includeMax: true }, exact }]
  const between: NumberRange = {
    min: first ?? Number.NEGATIVE_INFINITY,
    max: last ?? Number.POSITIVE_INFINITY,
    includeMin: false,
    includeMax: false,
  }
  const inner: readonly Condition[] = between.min < between.max ? [{ op: 'range', field, range: between }] : []
  return anyOf([...inner, ...edge(first), ...(last === first ? [] : edge(last))], 'max')
}

function rangeOf(field: Field, bounds: RangeBounds, min: number | undefined, max: number | undefined): Condition {
  if (min === undefined && max === undefined) return { op: 'exists', field }
  const range: NumberRange = {
    min: min ?? Number.NEGATIVE_INFINITY,
    max: max ?? Number.POSITIVE_INFINITY,
    includeMin: bounds.gt === undefined,
    includeMax: bounds.lt === undefined,
  }
  if (range.min > range.max || (range.min === range.max && !(range.includeMin && range.includeMax))) return NONE
  return { op: 'range', field, range }
}

/** The number that a query names; NaN where it names none. */
export function numberNamed(value: Scalar): number {
  return typeof value === 'boolean' || (typeof value === 'string' && value.trim() === '') ? Number.NaN : Number(value)
}

/** Queries read the values of small numbers as integers. */
const ASKED_AS: Readonly<Partial<Record<FieldType, FieldType>>> = { byte: 'integer', short: 'integer' }

export function refuseOutOfRange(number: number, { type }: Field): void {
  if (!fitsType(number, ASKED_AS[type] ?? type))
    throw failedToCreate('illegal_argument_exception', `Value [${number}] is out of range for [${type}]`)
}

function numberRange(bounds: RangeBounds, field: Field): Condition {
  const long = isExact(field) ? longRange(bounds, field) : undefined
  if (long !== undefined) return long
  return rangeBetween(field, bounds, value => {
    const number = numberNamed(value)
    if (Number.isNaN(number)) throw notANumber(value)
    refuseOutOfRange(number, field)
    return field.type === 'float' ? Math.fround(number) : number
  })
}

/** Undefined where doubles hold both bounds. */
function longRange(bounds: RangeBounds, field: Field): Condition | undefined {
  const [min, max] = [bounds.gt ?? bounds.gte, bounds.lt ?? bounds.lte].map(value => {
    const number = value === undefined ? Number.NaN : numberNamed(value)
    return value !== undefined && isLarge(number) && fitsType(number, field.type) ? BigInt(exactNamed(value, number)) : undefined
  })
  if (min === undefined && max === undefined) return undefined
  /** The whole number next to a fraction lies within, whether or not the bound itself does. */
  const plain = (value: Scalar | undefined, whole: (number: number) => number) => {
    const number = value === undefined ? Number.NaN : numberNamed(value)
    return Number.isFinite(number) ? { bound: BigInt(whole(number)), isFraction: !Number.isInteger(number) } : undefined
  }
  const [low, high] = [plain(bounds.gt ?? bounds.gte, Math.ceil), plain(bounds.lt ?? bounds.lte, Math.floor)]
  const exact: ExactRange = {
    min: min ?? low?.bound,
    max: max ?? high?.bound,
    includeMin: bounds.gt === undefined || (min === undefined && low?.isFraction === true),
    includeMax: bounds.lt === undefined || (max === undefined && high?.isFraction === true),
  }
  const range = {
    min: Number(exact.min ?? Number.NEGATIVE_INFINITY),
    max: Number(exact.max ?? Number.POSITIVE_INFINITY),
    includeMin: true,
    includeMax: true,
  }
  return { op: 'range', field, range, exact }
}

function rangeBetween(field: Field, bounds: RangeBounds, parse: (value: Scalar) => number): Condition {
  const bound = (value: Scalar | undefined) => (value === undefined ? undefined : parse(value))
  return rangeOf(field, bounds, bound(bounds.gt ?? bounds.gte), bound(bounds.lt ?? bounds.lte))
}

/** False comes before true. */
function booleanRange(bounds: RangeBounds, field: Field): Condition {
  return rangeBetween(field, bounds, value => {
    if (String(value) === 'true') return 1
    if (String(value) === 'false') return 0
    throw notABoolean(value)
  })
}

function textRange(bounds: RangeBounds, field: Field): Condition {
  const min = bounds.gt ?? bounds.gte
  const max = bounds.lt ?? bounds.lte
  if (min === undefined && max === undefined) return { op: 'exists', field }
  return {
    op: 'pattern',
    field,
    pattern: textRangePattern({
      min: min === undefined ? undefined : normalized(String(min), field.normalizer),
      max: max === undefined ? undefined : normalized(String(max), field.normalizer),
      includeMin: bounds.gt === undefined,
      includeMax: bounds.lt === undefined,
    }),
  }
}

/** As `ip` fields order their values: by the bits of the address. */
function addressRange(bounds: RangeBounds, field: Field): Condition {
  const bits = (value: Scalar | undefined): bigint | undefined => (value === undefined ? undefined : addressNamed(value))
  const { gt, gte, lt, lte } = bounds
  const [above, from, below, to] = [bits(gt), bits(gte), bits(lt), bits(lte)]
  if ([above, from, below, to].every(bound => bound === undefined)) return { op: 'exists', field }
  const least = above === undefined ? from : above + 1n
  const most = below === undefined ? to : below - 1n
  return addressesBetween(field, least ?? 0n, most ?? LAST_ADDRESS)
}

const LAST_ADDRESS = (1n << 128n) - 1n

function addressNamed(value: Scalar): bigint {
  const bits = parseAddress(String(value))
  if (bits === undefined) throw notAnAddress(value)
  return bits
}

const notAnAddress = (value: Scalar) => failedToCreate('illegal_argument_exception', `'${String(value)}' is not an IP string literal.`)

function addressesBetween(field: Field, first: bigint, last: bigint): Condition {
  const test = (term: string): boolean => {
    const bits = parseAddress(term)
    return bits !== undefined && bits >= first && bits <= last
  }
  return { op: 'pattern', field, pattern: { text: `addresses ${first} ${last}`, prefix: '', literal: '', test } }
}

/** The value is an address, or a block such as `10.0.0.0/8`. */
export function bindAddress(value: Scalar, field: Field): Condition {
  const text = String(value)
  if (!text.includes('/')) {
    const address = addressNamed(value)
    return addressesBetween(field, address, address)
  }
  const block = parseAddressBlock(text)
  if (block === undefined) throw notAnAddress(value)
  return addressesBetween(field, ...block)
}
