import { expect } from 'chai'
import { describe, it } from 'mocha'
import { JsonPieces } from './json-pieces.ts'

const LONG = 'ä'.repeat(50_000)

describe('pieces of JSON text', () => {
  it('are those of their own answer where several answers are put together at a time', () => {
    const answers = Array.from({ length: 4 }, (_, at) => ({ pieces: new JsonPieces(), name: `answer ${at}`, text: '' }))
    for (let part = 0; part < 6; part++)
      for (const answer of answers) {
        answer.pieces.addText(`${answer.name}, part ${part}: ${part === 3 ? LONG : 'short'}\n`)
        answer.text += answer.pieces.take() ?? ''
      }
    for (const answer of answers) answer.text += answer.pieces.take(true) ?? ''
    for (const { name, text } of answers)
      expect(text).to.equal(Array.from({ length: 6 }, (_, part) => `${name}, part ${part}: ${part === 3 ? LONG : 'short'}\n`).join(''))
  })

  it('go on after the last one, and hold nothing of the answer before', () => {
    const pieces = new JsonPieces()
    pieces.addText('first')
    expect(pieces.take(true)).to.equal('first')
    expect(pieces.take(true)).to.equal(undefined)
    const bytes = Buffer.from('second')
    pieces.addBytes(bytes, 0, bytes.length)
    const other = new JsonPieces()
    other.addText('other')
    expect(pieces.take(true)).to.equal('second')
    expect(other.take(true)).to.equal('other')
  })

  it('take texts that have no room in one', () => {
    const pieces = new JsonPieces()
    pieces.addText('x')
    pieces.addText(LONG.repeat(9))
    expect(pieces.take()).to.equal(`x${LONG.repeat(9)}`)
    pieces.addText('y')
    expect(pieces.take(true)).to.equal('y')
  })
})
