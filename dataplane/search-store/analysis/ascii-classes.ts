/** The classes of ASCII in the standard analyzer, by byte. */

/** Lower-cased byte of letters, digits and `_`; 0 for everything else. */
export const WORD = new Uint8Array(256)
/** 1 letter, 2 digit, 3 `_`. */
export const KIND = new Uint8Array(256)
for (let c = 0; c < 128; c++) {
  const text = String.fromCharCode(c)
  if (!/[A-Za-z0-9_]/.test(text)) continue
  WORD[c] = text.toLowerCase().charCodeAt(0)
  KIND[c] = /[A-Za-z]/.test(text) ? 1 : text === '_' ? 3 : 2
}

/** Bit 1: joins letters, bit 2: joins digits. */
export const JOINS = new Uint8Array(256)
for (const [character, bits] of [
  [':', 1],
  [',', 2],
  [';', 2],
  ['.', 3],
  ["'", 3],
] as const)
  JOINS[character.charCodeAt(0)] = bits

/** 1 for `" \ / b f n r t`, the characters of JSON's short escapes. All of them part words. */
export const SHORT_ESCAPE = new Uint8Array(256)
for (const character of '"\\/bfnrt') SHORT_ESCAPE[character.charCodeAt(0)] = 1
