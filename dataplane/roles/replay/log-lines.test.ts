import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { readLines } from './log-lines.ts'

async function* inChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0
  for (let i = 0; from < bytes.length; i += 1) {
    const end = from + (sizes[i % sizes.length] ?? 1)
    yield bytes.subarray(from, end)
    from = end
  }
}

async function collect(source: AsyncIterable<Buffer>, maxBytes?: number): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = []
  for await (const { number, bytes } of readLines(source, maxBytes)) lines.push([number, bytes?.toString()])
  return lines
}

describe('lines of a replayed file', () => {
  it('are the same however the bytes arrive, plain or gzip', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\r', '{') })),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        fc.boolean(),
        async (texts, sizes, zipped) => {
          const bytes = Buffer.from(texts.join('\n'))
          const expected = texts.map((text, i) => [i + 1, text] as const).filter(([, text]) => text.trim() !== '')
          expect(await collect(inChunks(zipped ? gzipSync(bytes) : bytes, sizes))).to.deep.equal(expected)
        },
      ),
      { numRuns: rounds(100), seed: 1 },
    ))

  it('skips a line over the limit without holding it', async () => {
    const bytes = Buffer.from(`short\n${'x'.repeat(100)}\nafter\n`)
    expect(await collect(inChunks(bytes, [7]), 10)).to.deep.equal([
      [1, 'short'],
      [2, undefined],
      [3, 'after'],
    ])
  })
})
