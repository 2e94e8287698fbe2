/** Whether a JSON text is nested deeper than so many levels; found without parsing it, and as soon as it is so. */
export function isDeeperThan(json: Uint8Array, levels: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (isInString) {
      if (byte === 0x5c) at++
      else if (byte === 0x22) isInString = false
    } else if (byte === 0x22) isInString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > levels) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return false
}
