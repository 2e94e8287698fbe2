import { expect } from 'chai'
import { describe, it } from 'mocha'
import { compareCounts, formatAgo, formatBytes, formatCount, formatMoment, formatShare, formatShort } from './format.ts'

describe('numbers and times of the console', () => {
  it('are short where there is little room', () => {
    expect([formatCount(1_234_567), formatShort(12_345), formatShort(999)]).to.deep.equal(['1,234,567', '12.3K', '999'])
    expect([0, 512, 2_048, 150 * 1_024, 5 * 1_024 ** 3].map(formatBytes)).to.deep.equal(['0 B', '512 B', '2.0 KB', '150 KB', '5.0 GB'])
    expect([0, 0.0004, 0.034, 0.05, 0.5, 1].map(formatShare)).to.deep.equal(['0 %', '< 0.1 %', '3.4 %', '5 %', '50 %', '100 %'])
  })

  it('say how a count has changed', () => {
    const cases = [[0, 0, '–', 'none'], [5, 0, 'new', 'new'], [150, 100, '+ 50 %', 'up'], [50, 100, '− 50 %', 'down'], [100, 100, '± 0 %', 'same'], [5_000, 100, '× 50', 'up']] as const // biome-ignore format: one line
    for (const [now, before, text, direction] of cases) expect(compareCounts(now, before)).to.deep.equal({ text, direction })
  })

  it('say the year of a moment that is of another one', () => {
    const zone = process.env['TZ']
    process.env['TZ'] = 'UTC'
    const said = (at: string, now: string) => formatMoment(at, Date.parse(now))
    expect(said('2026-11-22T23:51:07Z', '2026-12-01T00:00:00Z')).to.equal('22 Nov 23:51:07')
    expect(said('2025-12-31T23:51:07Z', '2026-01-01T00:10:00Z')).to.equal('31 Dec 2025 23:51:07')
    expect(said('soon', '2026-01-01T00:10:00Z')).to.equal('soon')
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  it('say how long ago', () => {
    const now = 1_000_000_000
    const ago = (seconds: number) => formatAgo(now - seconds * 1_000, now)
    expect([3, 40, 180, 7_200, 200_000, -120].map(ago)).to.deep.equal([
      'just now',
      '40 s ago',
      '3 min ago',
      '2 h ago',
      '2 d ago',
      'in 2 min',
    ])
  })
})
