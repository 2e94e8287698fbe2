import { expect } from 'chai'
import { describe, it } from 'mocha'
import { toUtf8 } from './utf8-bytes.ts'

const TEXT = '{"message":"größe 😀"}\n'
const utf16le = Buffer.from(`\ufeff${TEXT}`, 'utf16le')

describe('the bytes of an upload in UTF-8', () => {
  for (const [name, bytes, text] of [
    ['UTF-16, little end first', utf16le, TEXT],
    ['UTF-16, big end first', Buffer.from(utf16le).swap16(), TEXT],
    ['UTF-16 cut within a character', utf16le.subarray(0, utf16le.length - 1), `${TEXT.slice(0, -1)}\ufffd`],
    ['UTF-16 without a character', utf16le.subarray(0, 2), ''],
    ['UTF-8', Buffer.from(TEXT), TEXT],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), `\ufeff${TEXT}`],
    ['one byte', Buffer.from('x'), 'x'],
    ['nothing', Buffer.alloc(0), ''],
  ] as const)
    it(`of ${name}, wherever the pieces end`, async () => {
      for (const size of [1, 2, 3, 1000]) {
        const pieces = async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
        }
        const read: Buffer[] = []
        for await (const piece of toUtf8(pieces())) read.push(piece)
        expect(Buffer.concat(read).toString()).to.equal(text)
      }
    })
})
