/**
 * Credentials in log text, masked in tickets: these stay on servers of others, where more people read them. Only what its own form or its name gives away:
 * words such as `token: expired` may be the cause.
 */
import { KEY_MASKS, maskText, type TextMask } from '../records/text-mask.ts'

const NAME =
  '(?:[\\w.-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|(?:access|auth|refresh|session|bearer|id)[_-]?token)|token)'
/** Values that are no secret, and may be the cause. */
const NO_SECRET = '(?!(?:null|nil|none|undefined|true|false|empty|missing)\\b|<\\*>)'

/** The surer ones first. */
const MASKS: readonly TextMask[] = [
  ...KEY_MASKS,
  { what: /\b(bearer|basic)\s+(?=[\w.~+/-]*\d)[\w.~+/-]{8,}=*/gi, by: '$1 [secret]' },
  { what: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, by: '[secret]' },
  {
    what: /\b(?:sk|pk|rk|whsec)[-_](?:live|test|proj|ant|or|svcacct)[\w-]{12,}|\bgh[opsru]_\w{16,}|\bgithub_pat_\w{16,}|\bgl(?:pat|dt|rt|ptt)-[\w-]{12,}|\bxox[a-z]-[\w-]{8,}|\bAIza[\w-]{20,}|\bya29\.[\w-]{10,}|\b(?:npm|dop_v1|shpat)_\w{16,}|\bSG\.[\w-]{8,}\.[\w-]{8,}|\bpypi-[\w-]{16,}|\bsvc_proj_[0-9a-f]{16,}/g,
    by: '[secret]',
  },
  { what: /(:\/\/[^\s/@:]{0,200}:)[^\s/@]{1,200}@/g, by: '$1[secret]@' },
  { what: new RegExp(`\\b(${NAME}=)${NO_SECRET}(?:"[^"]{1,2000}"?|'[^']{1,2000}'?|[^\\s,;&"'})\\]]+)`, 'gi'), by: '$1[secret]' },
  { what: new RegExp(`(["']${NAME}["']\\s{0,3}:\\s{0,3})(?:"[^"]{1,2000}"?|'[^']{1,2000}'?)`, 'gi'), by: '$1"[secret]"' },
]

export function maskCredentials(text: string): string {
  return maskText(text, MASKS)
}
