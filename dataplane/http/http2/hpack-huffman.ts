/** The Huffman code of header texts (RFC 7541, 5.2 and Appendix B). */

/** Bits of each byte's code; the code is canonical, so that these say it all. The last is the end-of-text symbol. */
const CODE_LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10,
  12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7,
  7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22,
  23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22,
  23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20,
  24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]
const END_OF_TEXT = 256
const MAX_PADDING_BITS = 7
/** Marks a node's child as a symbol. */
const LEAF = 0x8000

/** Two entries for each node of the code's tree: what follows upon 0 and upon 1. */
const TREE = buildTree()

/** The text of these bytes, one character for each; undefined when they are no code. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = ''
  let node = 0
  let bitsSinceSymbol = 0
  let onlyOnes = true
  for (let at = start; at < end; at++) {
    for (let mask = 0x80; mask > 0; mask >>= 1) {
      const bit = (bytes[at]! & mask) === 0 ? 0 : 1
      const next = TREE[2 * node + bit]!
      bitsSinceSymbol++
      if (bit === 0) onlyOnes = false
      if ((next & LEAF) === 0) {
        node = next
        continue
      }
      if (next === (LEAF | END_OF_TEXT)) return undefined
      text += String.fromCharCode(next & ~LEAF)
      node = 0
      bitsSinceSymbol = 0
      onlyOnes = true
    }
  }
  return onlyOnes && bitsSinceSymbol <= MAX_PADDING_BITS ? text : undefined
}

function buildTree(): Uint16Array {
  const symbols = CODE_LENGTHS.map((length, symbol) => ({ length, symbol })).sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  const tree = new Uint16Array(2 * symbols.length)
  let nodes = 1
  let code = 0
  let codeLength = symbols[0]!.length
  for (const { length, symbol } of symbols) {
    code *= 2 ** (length - codeLength)
    codeLength = length
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const branch = 2 * node + (Math.floor(code / 2 ** bit) % 2)
      if (tree[branch] === 0) tree[branch] = nodes++
      node = tree[branch]!
    }
    tree[2 * node + (code % 2)] = LEAF | symbol
    code++
  }
  return tree
}
