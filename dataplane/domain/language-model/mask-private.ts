/** Secrets and personal data in a text, masked before it leaves for a language model: what looks like one is one. */
import { KEY_MASKS, maskText, type TextMask } from '../records/text-mask.ts'

const SECRET_NAME =
  '(?:[\\w.-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|credentials?|authorization|cookie|signature|session[_-]?id|jsessionid)|auth|sid|sig|pin|otp)'

/** In this order: the longer and surer ones first. */
const MASKS: readonly TextMask[] = [
  ...KEY_MASKS,
  { what: /\b(bearer|basic|digest|negotiate)\s+(?=[\w.~+/=-]*[\d.=])[\w.~+/=-]{6,}/gi, by: '$1 [secret]' },
  { what: /\b(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ABIA|ACCA)[0-9A-Z]{12,}\b/g, by: '[secret]' },
  {
    what: /\b(?:sk|pk|rk|whsec)[-_](?:live|test|proj|ant|or|svcacct)?[\w-]{12,}|\bgh[opsru]_\w{16,}|\bgithub_pat_\w{16,}|\bgl(?:pat|dt|rt|ptt)-[\w-]{12,}|\bxox[a-z]-[\w-]{8,}|\bAIza[\w-]{20,}|\bya29\.[\w-]{10,}|\b(?:hf|npm|dop_v1|shpat)_\w{16,}|\bSG\.[\w-]{8,}\.[\w-]{8,}|\bpypi-[\w-]{16,}/g,
    by: '[secret]',
  },
  { what: /([?&](?:key|code|k|t|auth)=)[^&\s"']+/gi, by: '$1[secret]' },
  { what: /(:\/\/)[^\s/@:]{0,200}:[^\s/@]{0,200}@/g, by: '$1[secret]@' },
  {
    what: new RegExp(
      `\\b(${SECRET_NAME})(["']?\\s{0,3}(?:[:=]|=>|\\bis\\b)\\s{0,3})(?:(?:bearer|basic|digest|token)\\s+)?(?:"[^"]{0,2000}"?|'[^']{0,2000}'?|[^\\s,;&"'}\\])]+)`,
      'gi',
    ),
    by: '$1$2[secret]',
  },
  { what: /[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi, by: '[email]' },
  { what: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/g, by: '[account]' },
  { what: /\b\d{3}-\d{2}-\d{4}\b/g, by: '[number]' },
  // Numbers within times and within larger numbers stay.
  { what: /(?<![\w.:-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)/g, by: '[ip]' },
  {
    what: /(?<![\w:])(?=[\da-f:.]{0,45}::|(?:[\da-f]{1,4}:){7})(?:[\da-f]{1,4})?(?::{1,2}[\da-f]{1,4}){1,7}(?:::)?(?:(?:\.\d{1,3}){3})?(?![\w:])/gi,
    by: '[ip]',
  },
  { what: /(?<![\w-])(?:[\da-f]{2}[:-]){5}[\da-f]{2}(?![\w-])/gi, by: '[mac]' },
  { what: /(?<![\w+.])\+\d(?:[ ().-]{0,2}\d){6,14}(?![\w])/g, by: '[phone]' },
  { what: /(?<![\w.:/-])\(?0?\d{2,4}\)?[ .-]{1,2}\d{3}[ .-]\d{4}(?![\w-])/g, by: '[phone]' },
  // A token without a name: long, letters and digits mixed.
  { what: /(?<![\w+/=-])(?=[\w+/-]{0,200}\d)(?=[\w+/-]{0,200}[A-Za-z])[\w+-]{32,}={0,2}/g, by: '[token]' },
]

const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])/g

export function maskPrivate(text: string): string {
  return maskText(text, MASKS).replace(CARD, number => (isCardNumber(number) ? '[card]' : number))
}

/** The check digit of Luhn. */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '')
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const counted = i % 2 === 0 ? digit : digit * 2
    sum += counted > 9 ? counted - 9 : counted
  }
  return sum % 10 === 0
}
