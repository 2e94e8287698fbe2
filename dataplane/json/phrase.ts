/** Tokens of JSON that are expected one after the other, compared all at once. */
import { NOWHERE, skipSpace, startsWith } from './bytes.ts'

/** Tokens that follow one another, in most messages without white space between them. */
export interface Phrase {
  readonly compact: Uint8Array
  readonly tokens: readonly Uint8Array[]
}

export function phrase(...tokens: readonly string[]): Phrase {
  return { compact: Buffer.from(tokens.join('')), tokens: tokens.map(token => Buffer.from(token)) }
}

/** After the phrase that stands at `p`, with white space before and between its tokens or without. */
export function phraseEnd(b: Uint8Array, p: number, { compact, tokens }: Phrase): number {
  return startsWith(b, p, compact) ? p + compact.length : spacedEnd(b, p, tokens)
}

function spacedEnd(b: Uint8Array, from: number, tokens: readonly Uint8Array[]): number {
  let p = from
  for (const token of tokens) {
    p = skipSpace(b, p)
    if (!startsWith(b, p, token)) return NOWHERE
    p += token.length
  }
  return p
}

/** At the next byte that is no white space. */
export function afterSpace(b: Uint8Array, p: number): number {
  return b[p]! > 0x20 ? p : skipSpace(b, p)
}
