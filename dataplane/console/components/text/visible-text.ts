/**
 * Characters in a text of others that a person does not see, and signs to be shown in their place. Such characters turn round the text beside them, or
 * make two names look the same. Characters by which a script or a picture is written stay.
 */

export interface TextPart {
  readonly text: string
  /** `text` is one such character, or several of the same. */
  readonly isHidden: boolean
}

/** Controls; what Unicode calls ignorable, among that marks of direction and joiners; ends of lines and paragraphs; notes between lines. */
const HIDDEN = String.raw`(?<hidden>(?<one>[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb])\k<one>*)`
/** Scripts that write some of their letters with joiners. */
const JOINING = [
  'Arab',
  'Syrc',
  'Mong',
  'Nkoo',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
  'Mymr',
  'Khmr',
  'Tibt',
]
const KEPT = [
  // Ends of lines.
  String.raw`[\n\t]|\r(?=\n|$)`,
  `(?<=[${JOINING.map(script => String.raw`\p{scx=${script}}`).join('')}])[\\u200c\\u200d]`,
  String.raw`(?<=\p{sc=Mong})[\u180b-\u180f]`,
  // Pictures that are made of several, or drawn in colour.
  String.raw`(?<=[\p{ExtPict}\p{EMod}\ufe0f])\u200d(?=\p{ExtPict})`,
  String.raw`(?<=[\p{ExtPict}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\u{1f3f4})[\u{e0061}-\u{e007a}]{1,6}\u{e007f}`,
]
/** Marks of direction have their work beside letters that are written from right to left, and hide nothing there. */
const MARKS = String.raw`[\u200e\u200f\u061c]`
const RIGHT_TO_LEFT = /(?=\p{L})[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}]/u

const FIND = new RegExp([...KEPT, HIDDEN].join('|'), 'gu')
const FIND_BESIDE_RIGHT_TO_LEFT = new RegExp([...KEPT, MARKS, HIDDEN].join('|'), 'gu')
/** Most texts have none. */
const MAY_HIDE = /[^\P{Cc}\n\t]|[\p{DI}\u2028\u2029\ufff9-\ufffb]/u

/** The parts of a text, which together are the text. */
export function textParts(text: string): readonly TextPart[] {
  if (!MAY_HIDE.test(text)) return text === '' ? [] : [{ text, isHidden: false }]
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(RIGHT_TO_LEFT.test(text) ? FIND_BESIDE_RIGHT_TO_LEFT : FIND)) {
    const hidden = match.groups?.['hidden']
    if (hidden === undefined) continue
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isHidden: false })
    parts.push({ text: hidden, isHidden: true })
    end = match.index + hidden.length
  }
  if (end < text.length) parts.push({ text: text.slice(end), isHidden: false })
  return parts
}

/** `U+202E`, `U+0000 × 3` */
export function nameHidden(hidden: string): string {
  const code = hidden.codePointAt(0)!
  const count = hidden.length / String.fromCodePoint(code).length
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${count > 1 ? ` × ${count}` : ''}`
}

/** The text where there is no style: in the title of an element, in an attribute. */
export function visibleText(text: string): string {
  return mapHidden(text, hidden => `[${nameHidden(hidden)}]`)
}

export interface HiddenCharacters {
  /** `U+202E`, each once. */
  readonly names: readonly string[]
  /** The text around the first of them, with all that is hidden named. */
  readonly around: string
}

/** Characters before and behind the first hidden one. */
const AROUND = 40
const MAX_NAMES = 5

/** The hidden characters of a text that is edited, and is itself shown as it is; undefined: there are none. */
export function findHidden(text: string): HiddenCharacters | undefined {
  const parts = textParts(text)
  const first = parts.findIndex(({ isHidden }) => isHidden)
  if (first < 0) return undefined
  const before = parts[first - 1]?.text.slice(-AROUND) ?? ''
  const behind = parts
    .slice(first)
    .map(({ text }) => text)
    .join('')
    .slice(0, AROUND)
  const names = [...new Set(parts.filter(({ isHidden }) => isHidden).map(part => nameHidden([...part.text][0]!)))]
  const rest = names.length - MAX_NAMES
  return { names: rest > 0 ? [...names.slice(0, MAX_NAMES), `${rest} more`] : names, around: visibleText(before + behind) }
}

/** The same JSON, to be shown. */
export function escapeHidden(json: string): string {
  return mapHidden(json, hidden => hidden.replaceAll(/[\s\S]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
}

function mapHidden(text: string, show: (hidden: string) => string): string {
  return textParts(text)
    .map(part => (part.isHidden ? show(part.text) : part.text))
    .join('')
}
