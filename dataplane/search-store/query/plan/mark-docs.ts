/** Documents whose value has a verdict, as bits. */

/** `verdicts` by code; those that are odd mark their documents. `words`: all 0. Gives the bits that any of the documents' verdicts has. */
export function markDocs(codes: Uint8Array | Uint16Array | Uint32Array, verdicts: Uint8Array, words: Uint32Array): number {
  if (codes instanceof Uint8Array) return markBytes(codes, verdicts, words)
  return codes instanceof Uint16Array ? markShorts(codes, verdicts, words) : markWords(codes, verdicts, words)
}

// One for each width: a loop that meets several is some times as slow.
function markBytes(codes: Uint8Array, verdicts: Uint8Array, words: Uint32Array): number {
  let seen = 0
  const whole = codes.length >>> 5
  for (let at = 0; at < whole; at++) {
    const first = at << 5
    let word = 0
    for (let k = 0; k < 32; k++) {
      const verdict = verdicts[codes[first + k]!]!
      seen |= verdict
      word |= (verdict & 1) << k
    }
    words[at] = word
  }
  for (let doc = whole << 5; doc < codes.length; doc++) {
    const verdict = verdicts[codes[doc]!]!
    seen |= verdict
    words[doc >>> 5]! |= (verdict & 1) << (doc & 31)
  }
  return seen
}

function markShorts(codes: Uint16Array, verdicts: Uint8Array, words: Uint32Array): number {
  let seen = 0
  const whole = codes.length >>> 5
  for (let at = 0; at < whole; at++) {
    const first = at << 5
    let word = 0
    for (let k = 0; k < 32; k++) {
      const verdict = verdicts[codes[first + k]!]!
      seen |= verdict
      word |= (verdict & 1) << k
    }
    words[at] = word
  }
  for (let doc = whole << 5; doc < codes.length; doc++) {
    const verdict = verdicts[codes[doc]!]!
    seen |= verdict
    words[doc >>> 5]! |= (verdict & 1) << (doc & 31)
  }
  return seen
}

function markWords(codes: Uint32Array, verdicts: Uint8Array, words: Uint32Array): number {
  let seen = 0
  const whole = codes.length >>> 5
  for (let at = 0; at < whole; at++) {
    const first = at << 5
    let word = 0
    for (let k = 0; k < 32; k++) {
      const verdict = verdicts[codes[first + k]!]!
      seen |= verdict
      word |= (verdict & 1) << k
    }
    words[at] = word
  }
  for (let doc = whole << 5; doc < codes.length; doc++) {
    const verdict = verdicts[codes[doc]!]!
    seen |= verdict
    words[doc >>> 5]! |= (verdict & 1) << (doc & 31)
  }
  return seen
}
