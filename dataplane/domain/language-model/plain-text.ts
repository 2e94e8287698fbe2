/** Text as people see it: what is hidden, reordered or dressed up in it made plain. For text of strangers on its way to a model, and of a model on its way out. */

/** Characters that show nothing or change the order of others: controls, zero-width ones, direction marks, tags. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\u{115F}\u{1160}\u{3164}\u{FFA0}]/gu
/** Hidden text and changes of direction that no log writes by accident. */
const SMUGGLED = /[\u{202A}-\u{202E}\u{2066}-\u{2069}\u{E0000}-\u{E007F}]/u

/** One line, in the usual form of each letter, nothing hidden. */
export function plainText(text: string): string {
  return text.normalize('NFKC').replace(/\s/gu, ' ').replace(HIDDEN, '').replace(/ {2,}/g, ' ').trim()
}

export function hidesText(text: string): boolean {
  return SMUGGLED.test(text)
}

const SCHEME = /(?:\b[a-z][a-z0-9+.-]{1,20}:\/\/|\b(?:mailto|tel|sms|data|javascript|vbscript|file|slack|about|blob):)\S*/gi
/** Names that chats and mail programs make links of by themselves. */
const DOMAIN =
  /\b(?:www\.\S+|(?:[a-z0-9-]{1,63}\.){1,9}(?:com|net|org|io|dev|app|info|biz|xyz|top|site|online|link|click|ly|me|co|ai|gg|sh|to|tk|ru|cn|uk|de|fr|eu|us)\b(?:[:/?#]\S*)?)/gi

export function withoutLinks(text: string): string {
  return text.replace(SCHEME, '[url]').replace(DOMAIN, '[url]')
}

export function hasLink(text: string): boolean {
  return text.search(SCHEME) >= 0 || text.search(DOMAIN) >= 0 || /\]\s*\(/.test(text)
}
