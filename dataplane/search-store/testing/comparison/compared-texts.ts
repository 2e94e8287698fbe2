/** Generated texts for the analyzer: characters of many scripts and kinds, all of them in Unicode 12.1, which Lucene has. No Hebrew (README of the search store). */
import fc from 'fast-check'

const COMMON = [
  ...'abcXYZ019 _.,:;\'"-/@#\u00b7\u2019\u2018\u2010\u2013\t\n()[]{}&%$\u20ac\u00b2\u00bd\u00aa\u00ba\u00df\u0130\u0131\u017f',
]
const RARE = [
  ...'éñΩяςΣ日本か゛ー・々〆〇カ한글กขไທ؛·‧٣٫٬ـبﬁǅ１Ａｱﾞ．＇﹒︓©™°№㈱⁀﹍𝐀𠀀〱',
  ...['e\u0301', '\u0300', '\u200b', '\u00ad', '\u00a0', '\u2028', '\u0085', '\u202f', '\u0e31'],
]
/** Stand alone: which marks they take along is decided otherwise there. */
const EMOJI = ['😀', '👩\u200d🚀', '🇩🇪', '🇩', '👍🏽', '🏽', '❤\ufe0f', '1\ufe0f\u20e3', '😀😀', '🇩🇪🇫🇷🇮']

const words = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...COMMON) }, { weight: 2, arbitrary: fc.constantFrom(...RARE) }), {
    maxLength: 12,
  })
  .map(characters => characters.join(''))

export const comparedTexts = fc
  .array(fc.oneof({ weight: 4, arbitrary: words }, { weight: 1, arbitrary: fc.constantFrom(...EMOJI) }), { maxLength: 4 })
  .map(parts => parts.join(' '))
