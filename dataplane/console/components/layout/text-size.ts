/** Sizes go by the size of text that the reader has set in the browser. They are written in px at the usual one: here, and in styles (`styles-by-text-size.ts`). */
const USUAL_PX = 16

/** For styles of elements. */
export const rem = (px: number): string => `${px / USUAL_PX}rem`

/** In px by the text of this browser. */
export function scaled(px: number): number {
  return (px / USUAL_PX) * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}

/** Queries for windows, which know no rem. */
export const atMost = (px: number): string => `(max-width: ${px / USUAL_PX}em)`
export const atLeast = (px: number): string => `(min-width: ${px / USUAL_PX}em)`
