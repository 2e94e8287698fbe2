import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { type ByteRun, byteRun } from './byte-run.ts'
import { RecentRuns } from './recent-runs.ts'

const KEY = 'service":'
const BEHIND = '"next":"value that is long enough to be looked at"}'

/** A document that has the value behind the key, with the run up to the comma. */
function placed(value: string): { readonly run: ByteRun; readonly view: DataView } {
  const run = Buffer.from(`${KEY}${value},`)
  return { run: byteRun(run), view: new DataView(Uint8Array.from(Buffer.concat([run, Buffer.from(BEHIND)])).buffer) }
}

describe('runs of bytes that came lately', () => {
  const several = (textOf: (k: number) => string) => Array.from({ length: 16 }, (_, k) => textOf(k))
  const forms = [
    ['at their beginning', several(k => `"${k} of them"`)],
    ['in the middle', several(k => `"checkout-7d9f4c6b-${k}dca35"`)],
    ['far from it', several(k => `{"service.name":"checkout","service.version":"1.14.2","host.name":"node-${k}"}`)],
    ['in their length', several(k => `"${'a'.repeat(k + 1)}"`)],
  ] as const
  for (const [where, values] of forms)
    it(`are found by their bytes where they differ ${where}`, () => {
      const recent = new RecentRuns<{ readonly run: ByteRun }>(KEY.length)
      const all = values.map(placed)
      for (let times = 0; times < 6; times++) {
        for (const each of all)
          if (recent.at(each.view, 0, each.view.byteLength) !== each) recent.note(each, each.view, 0, each.view.byteLength)
      }
      const found = all.filter(each => recent.at(each.view, 0, each.view.byteLength) === each)
      // Two may have one place.
      expect(found.length).to.be.greaterThan(0.7 * all.length)
    })

  it('are never looked for beyond the end', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 60 }), { maxLength: 20 }), fc.nat(60), (values, end) => {
        const recent = new RecentRuns<{ readonly run: ByteRun }>(KEY.length)
        for (const value of values) {
          const { run, view } = placed(JSON.stringify(value))
          recent.note({ run }, view, 0, view.byteLength)
          const short = new DataView(view.buffer, 0, Math.min(end, view.byteLength))
          recent.note({ run }, short, 0, short.byteLength)
          recent.at(short, 0, short.byteLength)
        }
      }),
    )
  })
})
