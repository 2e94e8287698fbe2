/** Turns px of styles into rem, and those of windows into em, as the console is built: all of a page grows with the text that the reader has set in the browser. */
const USUAL_PX = 16
const PX = /(?<![\w.#-])(-?\d*\.?\d+)px\b/g

const inUnit = (text: string, unit: string): string => text.replaceAll(PX, (_, px: string) => `${Number(px) / USUAL_PX}${unit}`)

/** A plugin of PostCSS. */
export const stylesByTextSize = {
  postcssPlugin: 'styles-by-text-size',
  Declaration(declaration: { value: string }): void {
    const value = inUnit(declaration.value, 'rem')
    if (value !== declaration.value) declaration.value = value
  },
  AtRule: { media: queryByTextSize, container: queryByTextSize },
}

function queryByTextSize(rule: { params: string }): void {
  const params = inUnit(rule.params, 'em')
  if (params !== rule.params) rule.params = params
}
