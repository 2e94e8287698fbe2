/** Generated documents of any form: what one brings, the next may contradict. */
import fc from 'fast-check'
import type { Json } from './compared-documents.ts'

const KEYS = [
  'a',
  'b',
  'c.d',
  'c',
  'c.d.e',
  'http.route',
  'timestamp',
  'message',
  'level',
  'severity_number',
  'is_anomaly',
  'attributes',
  'duration_ms',
  'anomaly_score',
  'time_unix_nano',
]
const ODD_KEYS = ['', '.', '.a', 'a..b', '_id', '_source', 'ü', 'x'.repeat(40)]

const scalar = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      'text',
      '',
      '12',
      '1.5',
      'true',
      'false',
      '2026-01-02T03:04:05Z',
      '2026-01-02',
      'soon',
      0,
      1,
      -3,
      12.5,
      1e20,
      2 ** 40,
      1_700_000_000_000,
      true,
      false,
      null,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      'x'.repeat(1_100),
      'NaN',
      'Infinity',
      1e300,
      -0,
      '1e3',
      ' 5',
      '0x10',
      '2026-13-01',
      '1969-12-31T23:59:59.123456789Z',
    ),
  },
)
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  {
    weight: 1,
    arbitrary: fc.tuple(scalar, fc.integer({ min: 1, max: 3 })).map(([each, length]) => (each === null ? {} : Array(length).fill(each))),
  },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('x', 'y', 'x.y'), scalar, { maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([[1, 2], [3]], [{ x: 1 }, { x: 2 }], {}, { x: { y: { z: 1 } } }) },
)
const document: fc.Arbitrary<Json> = fc
  .uniqueArray(
    fc.oneof(
      { weight: 12, arbitrary: fc.tuple(fc.constantFrom(...KEYS), value) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...ODD_KEYS), fc.constantFrom<unknown>('x', 1, true)) },
    ),
    {
      selector: ([key]) => key,
      minLength: 1,
      maxLength: 3,
    },
  )
  .map(entries => Object.fromEntries(entries))

/** Written one after the other. */
export const comparedWrites = fc.array(document, { minLength: 1, maxLength: 6 })

/** Fields without a mapping get names with `prefix`, so that many such lists fit into one index. */
export function renamed(documents: readonly Json[], prefix: string): readonly Json[] {
  return documents.map(each =>
    Object.fromEntries(Object.entries(each).map(([key, member]) => [OWN.test(key) ? prefix + key : key, member])),
  )
}

/** Keys that no template maps. */
const OWN = /^[abc](\.[de])*$/
