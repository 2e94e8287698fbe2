/** The order of texts as their bytes in UTF-8 have it, which is that of their code points. */

/** Two texts that both have such units may stand otherwise in UTF-16: surrogates come before U+E000. */
const HIGH = /[\ud800-\uffff]/

/** Negative where `a` comes first. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  if (HIGH.test(a) && HIGH.test(b)) {
    let at = 0
    while (a.charCodeAt(at) === b.charCodeAt(at)) at++
    const order = Number(isSurrogate(a.charCodeAt(at))) - Number(isSurrogate(b.charCodeAt(at)))
    if (order !== 0 && Math.min(a.charCodeAt(at), b.charCodeAt(at)) >= 0xd800) return order
  }
  return a < b ? -1 : 1
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
