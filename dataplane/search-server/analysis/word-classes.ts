/** Word-break classes of characters, as Lucene's StandardTokenizer distinguishes them (Unicode Standard Annex 29, with ideographs, kana and emoji apart). */
export const WORD_CLASS = {
  other: 0,
  letter: 1,
  digit: 2,
  /** `_` and its like: joins what stands on both sides. */
  connector: 3,
  /** `:` joins letters. */
  midLetter: 4,
  /** `,` and `;` join digits. */
  midNumber: 5,
  /** `.` and `'` join letters, and digits. */
  midBoth: 6,
  /** Combining marks and format characters: belong to the character before. */
  extend: 7,
  katakana: 8,
  /** Every character a token of its own. */
  single: 9,
  /** Scripts without spaces between words (Thai, Lao, Khmer, Myanmar): a run is one token. */
  run: 10,
  emoji: 11,
} as const
export type WordClass = (typeof WORD_CLASS)[keyof typeof WORD_CLASS]

/** First match wins. */
const CLASS_PATTERNS: readonly (readonly [RegExp, WordClass])[] = [
  [/^[:\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a]$/u, WORD_CLASS.midLetter],
  [/^[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b]$/u, WORD_CLASS.midNumber],
  [/^[.'\u2018\u2019\u2024\ufe52\uff07\uff0e]$/u, WORD_CLASS.midBoth],
  [/^\p{Pc}$/u, WORD_CLASS.connector],
  [/^[\p{Grapheme_Extend}\p{Mc}\p{Cf}]$/u, WORD_CLASS.extend],
  [/^\p{Nd}$/u, WORD_CLASS.digit],
  [/^[\p{Ideographic}\p{Script=Hiragana}]$/u, WORD_CLASS.single],
  [/^[\p{Script=Katakana}\u30fc\uff70]$/u, WORD_CLASS.katakana],
  [
    /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}]$/u,
    WORD_CLASS.run,
  ],
  [/^\p{Alphabetic}$/u, WORD_CLASS.letter],
  [/^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u, WORD_CLASS.emoji],
]

const UNKNOWN = 255
const basicPlane = new Uint8Array(0x10000).fill(UNKNOWN)

function classify(codePoint: number): WordClass {
  const character = String.fromCodePoint(codePoint)
  for (const [pattern, wordClass] of CLASS_PATTERNS) if (pattern.test(character)) return wordClass
  return WORD_CLASS.other
}

export function wordClassOf(codePoint: number): WordClass {
  if (codePoint > 0xffff) return classify(codePoint)
  let known = basicPlane[codePoint]!
  if (known === UNKNOWN) {
    known = classify(codePoint)
    basicPlane[codePoint] = known
  }
  return known as WordClass
}
