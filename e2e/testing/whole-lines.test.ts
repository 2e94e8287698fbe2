import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { wholeLines } from './whole-lines.ts'

describe('the output of a program in one file', () => {
  it('keeps the lines of either stream whole, wherever the pieces of both are cut', async () => {
    const written: string[] = []
    const file = new PassThrough()
    file.on('data', (piece: Buffer) => written.push(piece.toString()))
    const [out, err] = [new PassThrough(), new PassThrough()]
    for (const stream of [out, err]) stream.pipe(wholeLines()).pipe(file, { end: false })
    const pieces: readonly (readonly [PassThrough, string | Buffer])[] = [
      [err, '[compile cache] renaming a'],
      [out, '{"state":"run'],
      [err, '... done\n[compile cache] '],
      [out, 'ning"}\n{"message":"'],
      [out, Buffer.from('grü').subarray(0, 3)],
      [out, Buffer.from('grü').subarray(3)],
      [err, 'b\n'],
      [out, 'n"}\n'],
    ]
    for (const [stream, piece] of pieces) {
      stream.write(piece)
      await turn()
    }
    out.end('last')
    await turn()
    await turn()
    const lines = ['[compile cache] renaming a... done', '{"state":"running"}', '[compile cache] b', '{"message":"grün"}', 'last']
    expect(written.join('').split('\n')).to.have.members(lines)
  })
})
