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
  /** Scripts without spaces between words, such as Thai: a run is one token. */
  run: 10,
  emoji: 11,
  /** Combining marks of those scripts: `extend`, and where nothing stands before them the start of a run. */
  runExtend: 12,
} as const
export type WordClass = (typeof WORD_CLASS)[keyof typeof WORD_CLASS]

/** Skin tones. */
export const isEmojiModifier = (codePoint: number): boolean => codePoint >= 0x1f3fb && codePoint <= 0x1f3ff

const RUN_SCRIPTS =
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tai_Le}\\p{Script=New_Tai_Lue}\\p{Script=Tai_Tham}' +
  '\\p{Script=Tai_Viet}\\p{Script=Ahom}'
const RUN_MARK = new RegExp(`[${RUN_SCRIPTS}](?<=\\p{M})`, 'gu')

/** Symbols that count as letters. */
const MORE_LETTERS =
  '\\u02c2-\\u02c5\\u02d2-\\u02d7\\u02de\\u02df\\u02ed\\u02ef-\\u02ff\\u055b\\u055c\\u055e\\u05f3\\ua720\\ua721\\ua789\\ua78a\\uab5b'

/** Extended_Pictographic of Unicode 12.1, which Lucene has; later versions took symbols out of it. */
const PICTOGRAPHS =
  '\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2194-\\u2199\\u21a9\\u21aa\\u231a\\u231b\\u2328\\u2388\\u23cf\\u23e9-\\u23f3\\u23f8-\\u23fa\\u24c2\\u25aa\\u25ab\\u25b6' +
  '\\u25c0\\u25fb-\\u25fe\\u2600-\\u2605\\u2607-\\u2612\\u2614-\\u2685\\u2690-\\u2705\\u2708-\\u2712\\u2714\\u2716\\u271d\\u2721\\u2728\\u2733\\u2734\\u2744\\u2747\\u274c\\u274e' +
  '\\u2753-\\u2755\\u2757\\u2763-\\u2767\\u2795-\\u2797\\u27a1\\u27b0\\u27bf\\u2934\\u2935\\u2b05-\\u2b07\\u2b1b\\u2b1c\\u2b50\\u2b55\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1f0ff}' +
  '\\u{1f10d}-\\u{1f10f}\\u{1f12f}\\u{1f16c}-\\u{1f171}\\u{1f17e}\\u{1f17f}\\u{1f18e}\\u{1f191}-\\u{1f19a}\\u{1f1ad}-\\u{1f1e5}\\u{1f201}-\\u{1f20f}\\u{1f21a}\\u{1f22f}' +
  '\\u{1f232}-\\u{1f23a}\\u{1f23c}-\\u{1f23f}\\u{1f249}-\\u{1f3fa}\\u{1f400}-\\u{1f53d}\\u{1f546}-\\u{1f64f}\\u{1f680}-\\u{1f6ff}\\u{1f774}-\\u{1f77f}\\u{1f7d5}-\\u{1f7ff}' +
  '\\u{1f80c}-\\u{1f80f}\\u{1f848}-\\u{1f84f}\\u{1f85a}-\\u{1f85f}\\u{1f888}-\\u{1f88f}\\u{1f8ae}-\\u{1f8ff}\\u{1f90c}-\\u{1f93a}\\u{1f93c}-\\u{1f945}\\u{1f947}-\\u{1fffd}'

/** First match wins. */
const CLASS_PATTERNS: readonly (readonly [RegExp, WordClass])[] = [
  [/[:\u00b7\u0387\u05f4\u2027\ufe13\ufe55\uff1a]/gu, WORD_CLASS.midLetter],
  [/[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b]/gu, WORD_CLASS.midNumber],
  [/[.'\u2018\u2019\u2024\ufe52\uff07\uff0e]/gu, WORD_CLASS.midBoth],
  [/[\p{Pc}\u202f]/gu, WORD_CLASS.connector],
  // A space without width is no format character here.
  [/\u200b/gu, WORD_CLASS.other],
  [RUN_MARK, WORD_CLASS.runExtend],
  [/[\p{Grapheme_Extend}\p{Mc}\p{Cf}]/gu, WORD_CLASS.extend],
  [/[\u{1f3fb}-\u{1f3ff}]/gu, WORD_CLASS.extend],
  [/[\p{Nd}\u066b]/gu, WORD_CLASS.digit],
  [/[\p{Script=Katakana}\u3031-\u3035\u309b\u309c\u30a0\u30fc\uff70]/gu, WORD_CLASS.katakana],
  [/(?![\u3005\u3006\u303b])[\p{Script=Han}\p{Script=Hiragana}]/gu, WORD_CLASS.single],
  [new RegExp(`(?:[${RUN_SCRIPTS}](?<=\\p{L})|[\\uaade\\uaadf\\u{1173a}\\u{1173b}\\u{1173f}])`, 'gu'), WORD_CLASS.run],
  [new RegExp(`[\\p{Alphabetic}${MORE_LETTERS}](?<!\\p{Ideographic})(?<![${RUN_SCRIPTS}])`, 'gu'), WORD_CLASS.letter],
  [new RegExp(`[\\p{Regional_Indicator}${PICTOGRAPHS}]`, 'gu'), WORD_CLASS.emoji],
]

/** Code points whose classes are worked out at a time, when one of them is met first: far less work than for each of them. */
const PAGE_BITS = 8
const PAGE = 1 << PAGE_BITS

/** By code point; memory that is never written to takes none. */
const classes = new Uint8Array(0x11_0000)
/** Planes 4 to 13, 15 and 16 hold no characters but private ones, which have no class. */
const knownPages = new Uint8Array(0x11_0000 >> PAGE_BITS)
  .fill(1, 0x4_0000 >> PAGE_BITS, 0xe_0000 >> PAGE_BITS)
  .fill(1, 0xf_0000 >> PAGE_BITS)

/** Surrogates stand for themselves: no page holds both halves of a pair. */
function classifyPage(page: number): void {
  const first = page << PAGE_BITS
  const characters = String.fromCodePoint(...Array.from({ length: PAGE }, (_none, at) => first + at))
  const units = first > 0xffff ? 2 : 1
  // From the last to the first pattern, as the first match wins.
  for (const [pattern, wordClass] of CLASS_PATTERNS.toReversed())
    for (const { index } of characters.matchAll(pattern)) classes[first + index / units] = wordClass
  knownPages[page] = 1
}

export function wordClassOf(codePoint: number): WordClass {
  if (knownPages[codePoint >> PAGE_BITS] === 0) classifyPage(codePoint >> PAGE_BITS)
  return classes[codePoint]! as WordClass
}
