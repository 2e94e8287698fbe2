import { expect } from 'chai'
import { describe, it } from 'mocha'
import { stylesByTextSize } from './styles-by-text-size.ts'

describe('styles of the console', () => {
  it('grow with the size of text that the reader has set', () => {
    const written = (value: string) => {
      const declaration = { value }
      stylesByTextSize.Declaration(declaration)
      return declaration.value
    }
    expect(
      ['16px', '1px solid var(--line)', '2px 0 0 -6px', 'calc(100% - .5px)', '0 8px 24px rgb(16 24 40 / 14%)'].map(written),
    ).to.deep.equal([
      ...[
        '1rem',
        '0.0625rem solid var(--line)',
        '0.125rem 0 0 -0.375rem',
        'calc(100% - 0.03125rem)',
        '0 0.5rem 1.5rem rgb(16 24 40 / 14%)',
      ],
    ])
    for (const value of ['0.75rem', 'var(--x-8px)', '#12px', '100dvh', 'auto']) expect(written(value)).to.equal(value)
  })

  it('choose the layout of a window by it, too', () => {
    const rule = { params: '(hover: none), (max-width: 700px)' }
    stylesByTextSize.AtRule.media(rule)
    expect(rule.params).to.equal('(hover: none), (max-width: 43.75em)')
  })
})
